import type { Config } from '../../config.ts'
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/log.ts'
import type { NativeRuntime } from '../../native/runtime.ts'
import type { UpstreamFetch } from '../../upstream/net/upstream-call.ts'
import type { Program } from '../../wiring/adapters.ts'
import { printableLine } from '../output.ts'

/** The result of one check. Only `fail` makes the command fail. */
export interface Finding {
  readonly name: string
  readonly level: 'ok' | 'warn' | 'fail'
  readonly text: string
  /** What the operator should do. */
  readonly mend?: string
}

export const ok = (name: string, text: string): Finding => ({ name, level: 'ok', text })
export const warn = (name: string, text: string, mend: string): Finding => ({
  name,
  level: 'warn',
  text,
  mend,
})
export const fail = (name: string, text: string, mend: string): Finding => ({
  name,
  level: 'fail',
  text,
  mend,
})

/** The findings as text for a person. */
export function printed(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ name }) => name.length))
  const lines = findings.flatMap(({ name, level, text, mend }) => [
    `  ${level.padEnd(4)}  ${name.padEnd(width)}  ${printableLine(text)}`,
    ...(mend === undefined ? [] : [`  ${''.padEnd(width + 6)}  → ${printableLine(mend)}`]),
  ])
  const wrong = findings.filter(({ level }) => level === 'fail').length
  const verdict = wrong === 0 ? 'Nothing is wrong.' : `${wrong} of these must be fixed.`
  return `\n${lines.join('\n')}\n\n  ${verdict}\n\n`
}

/** The parts that checks of upstreams need. */
export interface UpstreamParts {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  readonly program: Program
  readonly fetch: UpstreamFetch
  readonly runtime: NativeRuntime | null
  /** Whether a server runs on this data folder; null when unknown. */
  readonly isServed: boolean | null
}
