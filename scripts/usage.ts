import { type ParseArgsConfig, parseArgs } from 'node:util'

/** Invalid arguments; the message is for the person who typed them. */
export class UsageError extends Error {}

/** A strict `parseArgs` that throws `UsageError`. */
export function readArguments<Config extends ParseArgsConfig>(
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config)
  } catch (error) {
    // Keeps the first sentence of the message; the rest explains the parser.
    const [what = ''] = error instanceof Error ? error.message.split(/\. |\n/) : []
    throw new UsageError(what)
  }
}

/** The value of a numeric option. Throws `UsageError`. */
export function wholeNumber(option: string, text: string, least: number, most: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= most) return value
  throw new UsageError(`${option} is a whole number from ${least} to ${most}`)
}

/**
 * Runs a script from the command line. `--help` only prints `help`; a `UsageError` prints one line
 * and ends with exit code 2.
 */
export async function runScript(help: string, main: (args: string[]) => unknown): Promise<void> {
  const args = process.argv.slice(2)
  try {
    if (args.includes('--help')) process.stdout.write(help)
    else await main(args)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`${error.message}; see --help\n`)
    process.exitCode = 2
  }
}
