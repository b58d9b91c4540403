import { environment, moonbase, ROOT } from './command.ts'

export interface Ran {
  readonly out: string
  readonly err: string
  readonly code: number
}

export interface RunOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  /** The standard input of the program. */
  readonly stdin?: Blob
}

/** Runs a program to its end. */
export async function runProgram(
  command: readonly string[],
  { stdin, ...options }: RunOptions = {},
): Promise<Ran> {
  const child = Bun.spawn([...command], {
    ...options,
    stdin: stdin ?? 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { out, err, code }
}

/** Runs the product's command line to its end, with the command prefix `before`. */
export function run(
  args: readonly string[],
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
  before: readonly string[] = [],
): Promise<Ran> {
  const command = [...before, ...moonbase(), ...args]
  return runProgram(command, { cwd: ROOT, env: environment(dataDir, env) })
}

/** The sentence that a refusing command printed; throws on more lines or a stack trace. */
export function sentence({ err, code }: Ran): string {
  const lines = err.trim().split('\n')
  if (code !== 1 || lines.length !== 1 || !lines[0]?.startsWith('moonbase: ')) {
    throw new Error(`not one sentence and exit code 1, but ${code}:\n${err}`)
  }
  return lines[0].slice('moonbase: '.length)
}
