// `npm run check`, and the first step of `npm test`. See --help.
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { readArguments, runScript } from './usage.ts'

const HELP = `Checks format, lint, types and unused code, without writing anything.

  npm run check

Prints the findings of each tool and ends with 1 when there are any.
`

const root = join(import.meta.dir, '..')

/** Each works out anew much of what another knows: four of them take twice the work of one. */
const CHECKERS = Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2)))

const TOOLS = [
  {
    name: 'format and lint',
    args: ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings'],
    mend: 'bun node_modules/@biomejs/biome/bin/biome check --write',
  },
  {
    name: 'unused files, exports and packages',
    args: ['node_modules/knip/bin/knip.js'],
    mend: null,
  },
  {
    name: 'types',
    args: ['node_modules/typescript/bin/tsc', '--noEmit', '--checkers', String(CHECKERS)],
    mend: null,
  },
] as const

/** Runs one tool under this Bun, so that Node is not needed, and collects its output. */
async function check({ name, args, mend }: (typeof TOOLS)[number]) {
  const started = performance.now()
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: root,
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...process.env, ...(process.stderr.isTTY ? { FORCE_COLOR: '1' } : {}) },
  })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  const hint = code === 0 || !mend ? '' : `  mend what can be mended: ${mend}\n`
  const report = code === 0 ? '' : `${out}${err}${hint}`
  return { code, text: `${code === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)\n${report}` }
}

await runScript(HELP, async (args) => {
  readArguments({ args })
  const results = await Promise.all(TOOLS.map(check))
  for (const { text } of results) process.stderr.write(text)
  process.exitCode = results.some(({ code }) => code !== 0) ? 1 : 0
})
