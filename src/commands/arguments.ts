import type { parseArgs } from 'node:util'
import type { Program } from '../wiring/adapters.ts'

/** How a command was called. */
export interface Invocation {
  /** The arguments after the name of the command. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly version: string
  readonly program: Program
  readonly write: (text: string) => void
}

/** The command was called wrongly; the message shows its usage. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

type ArgOptions = NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>

export function parseArguments(args: readonly string[], options: ArgOptions) {
  try {
    const util = process.getBuiltinModule('node:util')
    return util.parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    // The first line says what is wrong; the others explain the parser.
    throw new UsageError(error instanceof Error ? error.message.split('\n')[0] : 'wrong arguments')
  }
}

/** The one argument of a command that takes a file. */
export function onlyFile([file, ...more]: readonly string[], usage: string): string {
  if (file === undefined || more.length > 0) throw new UsageError(`usage: ${usage}`)
  return file
}
