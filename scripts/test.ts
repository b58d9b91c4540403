// The last step of `npm test`. See --help.
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { executable } from '../test/support/executable.ts'
import { errorsIn, failuresIn } from './testing/failures.ts'
import { readArguments, runScript } from './usage.ts'

const HELP = `Runs the tests, and tells at the end what failed and why.

  npm run test
  npm run test -- test/web                 tests of this folder or file
  npm run test -- test/api -t 'found'      tests with this word in their names
  npm run test -- --update-timings         notes how long each file took

The files that took longest start first; test/timings.json has the times. All tests together start
the executable, which is built first: it starts in half the time of the sources.
`

/** More than processors: most of the time a test waits for a page, a process or the disk. */
const WORKERS_PER_PROCESSOR = 2.5
/** A worker with its browser and its servers. */
const WORKER_BYTES = 1024 ** 3
const WORKERS = Math.max(
  1,
  Math.min(
    Math.ceil(availableParallelism() * WORKERS_PER_PROCESSOR),
    Math.floor(totalmem() / WORKER_BYTES),
  ),
)
const TIMINGS = 'test/timings.json'

/** Limit for all failures together: a longer end of the log would be truncated, too. */
const TOLD_CHARS_MAX = 40_000
const RULE = '='.repeat(78)

type Env = Readonly<Record<string, string>>

/** Runs Bun's tests, passing signals on. Resolves with the exit code, and what went wrong. */
async function runTests(args: readonly string[], env: Env, report: string) {
  const reporting = ['--reporter=junit', `--reporter-outfile=${report}`]
  const order = [`--parallel=${WORKERS}`, '--no-isolate', `--timings=${TIMINGS}`]
  const options = ['--timeout', '60000', ...order, ...reporting]
  const child = Bun.spawn([process.execPath, 'test', ...options, ...args], {
    cwd: join(import.meta.dir, '..'),
    stdio: ['inherit', 'inherit', 'pipe'],
    env: { ...process.env, ...env, ...(process.stderr.isTTY ? { FORCE_COLOR: '1' } : {}) },
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => child.kill(signal))
  }
  const chunks: Uint8Array[] = []
  for await (const chunk of child.stderr) {
    process.stderr.write(chunk)
    chunks.push(chunk)
  }
  const file = Bun.file(report)
  const failed = (await file.exists()) ? failuresIn(await file.text()) : []
  return {
    code: await child.exited,
    wrong: [...failed, ...errorsIn(String(Buffer.concat(chunks)))],
  }
}

function told(wrong: readonly string[]): string {
  const all = wrong.join(`\n${'-'.repeat(78)}\n`)
  const rest = all.length > TOLD_CHARS_MAX ? '\n… and more above' : ''
  const title = `${RULE}\nWhat failed, and why (${wrong.length})\n${RULE}`
  return `\n${title}\n${all.slice(0, TOLD_CHARS_MAX)}${rest}\n${RULE}\n`
}

await runScript(HELP, async (args) => {
  const { positionals } = readArguments({
    args,
    allowPositionals: true,
    options: {
      'test-name-pattern': { type: 'string', short: 't' },
      'update-timings': { type: 'boolean' },
    },
  })
  const folder = mkdtempSync(join(tmpdir(), 'moonbase-tests-'))
  try {
    const env: Env = positionals.length === 0 ? { MOONBASE_BIN: await executable() } : {}
    const { code, wrong } = await runTests(args, env, join(folder, 'junit.xml'))
    if (wrong.length > 0) process.stderr.write(told(wrong))
    process.exitCode = code
  } finally {
    rmSync(folder, { recursive: true })
  }
})
