import type { Clock } from '../../core/clock.ts'
import type { LastTest, SystemSetting, SystemTestResponse } from './model.ts'
import type { SystemPart } from './settings.ts'

/** How the names of a part's settings begin. */
const NAMES: Readonly<Record<SystemPart, RegExp>> = {
  llm: /^MB_LLM_/,
  embedding: /^MB_EMBED_/,
  rerank: /^MB_RERANK_/,
  tts: /^MB_TTS_/,
  asr: /^MB_ASR_/,
  search: /^MB_SEARCH_/,
  mail: /^MB_(?:SMTP|MAIL)_/,
  host: /^MB_HOST$/,
}

interface LastTestsOptions {
  readonly clock: Pick<Clock, 'iso'>
  readonly settings: () => readonly SystemSetting[]
}

/** How each part was last tried at this server; a test of former settings is forgotten. */
export function createLastTests({ clock, settings }: LastTestsOptions) {
  const byPart = new Map<SystemPart, { readonly of: string; readonly test: LastTest }>()
  const stateOf = (part: SystemPart) =>
    JSON.stringify(settings().filter(({ name }) => NAMES[part].test(name)))

  return {
    note(part: SystemPart, { ok, latency_ms, text }: SystemTestResponse): void {
      const test = { part, at: clock.iso(), ok, latency_ms, text }
      byPart.set(part, { of: stateOf(part), test })
    },
    shown: (): LastTest[] =>
      [...byPart.values()].flatMap(({ of, test }) => (of === stateOf(test.part) ? [test] : [])),
  }
}

export type LastTests = ReturnType<typeof createLastTests>
