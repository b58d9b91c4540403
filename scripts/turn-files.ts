// The files that a reader of one turn has to open, measured. See --help.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postSse } from '../test/support/sse.ts'
import { readArguments, runScript } from './usage.ts'

const HELP = `Lists the files of src whose code runs in one turn of POST /v1/agent, and how many
lines: with a session and a limited key, without a knowledge base, from socket to disk and back.

  bun scripts/turn-files.ts

It counts how often each line runs in a few turns and in some more (the coverage of bun test), so
that what runs at the start alone, or once for several turns, does not count. It does not see the
writing thread, which runs storage/sqlite/writer.ts and connection.ts.
`

const ROOT = join(import.meta.dir, '..')
const FEW = 20
const MORE = 40
/** A session with so few turns is not folded. */
const TURNS_OF_SESSION = 5

/** Runs the turns; called under `bun test`, the only mode of Bun that counts lines. */
async function runTurns(count: number): Promise<void> {
  const { startApp } = await import('../test/support/app.ts')
  const { startUpstream } = await import('../test/support/upstream.ts')
  const upstream = await startUpstream()
  await using app = await startApp({ upstream: upstream.baseUrl })
  const { headers } = await app.key('a@example.com', { rateLimit: 2 * MORE })
  for (let turn = 0; turn < count; turn++) {
    const session_id = `s${Math.floor(turn / TURNS_OF_SESSION)}`
    const events = await postSse(`${app.url}/v1/agent`, {
      headers,
      body: { text: 'hello', session_id, kb: false },
    })
    if ((await events.all()).at(-1)?.event !== 'llm_end') throw new Error('a turn failed')
  }
}

/** How often each line of a file ran in this many turns, by file and line. */
async function linesRun(turns: number): Promise<Map<string, number>> {
  const folder = mkdtempSync(join(tmpdir(), 'turn-files-'))
  const args = ['--coverage', '--coverage-reporter=lcov', `--coverage-dir=${folder}`]
  const child = Bun.spawn([process.execPath, 'test', ...args, './scripts/turn-files.ts'], {
    cwd: ROOT,
    env: { ...process.env, TURNS: String(turns) },
    stdout: 'ignore',
    stderr: 'inherit',
  })
  try {
    if ((await child.exited) !== 0) throw new Error('the turns failed')
    return parse(readFileSync(join(folder, 'lcov.info'), 'utf8'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Parses lcov: `SF` names a file, `DA` a line and how often it ran. */
function parse(lcov: string): Map<string, number> {
  const counts = new Map<string, number>()
  let file = ''
  for (const line of lcov.split('\n')) {
    const [field = '', value = ''] = line.split(/:(.*)/s)
    if (field === 'SF') file = value
    const [number, count] = value.split(',')
    if (field === 'DA') counts.set(`${file}:${number}`, Number(count))
  }
  return counts
}

async function main(args: string[]): Promise<void> {
  readArguments({ args, options: {} })
  const few = await linesRun(FEW)
  const more = await linesRun(MORE)
  const files = new Map<string, number>()
  for (const [place, count] of more) {
    const file = place.replace(/:\d+$/, '')
    const isEachTurn = count - (few.get(place) ?? 0) >= MORE - FEW
    if (file.startsWith('src/') && isEachTurn) files.set(file, (files.get(file) ?? 0) + 1)
  }
  const listed = [...files].sort().map(([file, lines]) => `${String(lines).padStart(4)}  ${file}`)
  process.stdout.write(`${listed.join('\n')}\n${files.size} files\n`)
}

if (process.env.TURNS === undefined) await runScript(HELP, main)
else (await import('bun:test')).test('turns', () => runTurns(Number(process.env.TURNS)))
