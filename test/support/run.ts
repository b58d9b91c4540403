import { environment, moonbase, ROOT } from './command.ts'

export interface Ran {
  readonly out: string
  readonly err: string
  readonly code: number
}

/** Runs the command line to its end. */
export async function run(
  args: readonly string[],
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
  before: readonly string[] = [],
): Promise<Ran> {
  const child = Bun.spawn([...before, ...moonbase(), ...args], {
    cwd: ROOT,
    env: environment(dataDir, env),
    stdin: 'ignore',
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

/** The one sentence a command that refused has printed; fails when it printed more, or a stack. */
export function sentence({ err, code }: Ran): string {
  const lines = err.trim().split('\n')
  if (code !== 1 || lines.length !== 1 || !lines[0]?.startsWith('moonbase: ')) {
    throw new Error(`not one sentence and exit code 1, but ${code}:\n${err}`)
  }
  return lines[0].slice('moonbase: '.length)
}
