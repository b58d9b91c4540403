import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../support/command.ts'
import { runProgram } from '../support/run.ts'

/** Parts of the others, not to be run. */
const PARTS = [
  'build-executable.ts',
  'build-frame.ts',
  'put-in-place.ts',
  'without-scroll-lock.ts',
  'usage.ts',
]
const SCRIPTS = readdirSync(join(ROOT, 'scripts'))
  .filter((name) => /(?<!\.test)\.ts$/.test(name) && !PARTS.includes(name))
  .concat('bench/main.ts')

const run = (script: string, ...args: string[]) =>
  runProgram([process.execPath, join(ROOT, 'scripts', script), ...args], { cwd: ROOT })

describe.each(SCRIPTS)('scripts/%s', (script) => {
  test('the help of a script says what it is for and how it is called', async () => {
    const { out, err, code } = await run(script, '--help')
    expect({ err, code }).toEqual({ err: '', code: 0 })
    expect(out).toMatch(/^ {2}(bun scripts\/|npm run )/m)
    for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(100)
  })

  test('a script refuses an unknown option in one line', async () => {
    const { out, err, code } = await run(script, '--nonsense')
    expect({ out, code }).toEqual({ out: '', code: 2 })
    expect(err).toMatch(/^[^\n]*--nonsense[^\n]*; see --help\n$/)
  })
})

test.each([
  ['crash.ts', ['--rounds', 'many'], '--rounds is a whole number from 1 to 1000000'],
  ['crash.ts', ['--rounds', '0'], '--rounds is a whole number from 1 to 1000000'],
  ['crash.ts', ['--seed', '-1'], 'argument is ambiguous'],
  ['crash.ts', ['300'], "Unexpected argument '300'"],
  ['soak.ts', ['--minutes', 'long'], '--minutes is a number above 0'],
  ['soak.ts', ['--minutes', '0'], '--minutes is a number above 0'],
  ['soak.ts', ['--kills', 'two'], '--kills is a whole number from 0 to 1000'],
  ['soak.ts', ['--kills', '2', '--only', 'boards'], '--kills and --postgres go only with mixed'],
  ['release.ts', ['v1.2.0'], "Unexpected argument 'v1.2.0'"],
  ['soak.ts', ['--only', 'all'], 'there is no scenario "all"; there are mixed, devices'],
  ['screenshots.ts', ['--only', 'nowhere'], 'there is no page "nowhere"; there are login, home'],
  ['build.ts', ['--target', 'mars'], 'there is no target "mars"; there are linux-x64'],
  ['fetch-model.ts', [], 'name one model of bge-small-zh-v1.5'],
  ['fetch-model.ts', ['constructor'], 'name one model of bge-small-zh-v1.5'],
  ['device.ts', ['--server', 'here'], '--server is needed'],
  ['bench/main.ts', ['--rounds', '100'], '--rounds is a whole number from 1 to 99'],
  ['bench/main.ts', ['retrieval', 'nowhere'], 'there are no question sets in nowhere'],
])('scripts/%s %j says what is wrong with its arguments', async (script, args, words) => {
  const { out, err, code } = await run(script, ...args)
  expect({ out, code }).toEqual({ out: '', code: 2 })
  expect(err).toContain(words)
  expect(err).toEndWith('; see --help\n')
  expect(err.trim().split('\n')).toHaveLength(1)
})

test.each(['', 'targets'])(
  'npm verifies every file of the pinned Bun by its hash: %s',
  async (name) => {
    const folder = join(ROOT, 'scripts/toolchain', name)
    const { dependencies } = await Bun.file(join(folder, 'package.json')).json()
    const lock = await Bun.file(join(folder, 'package-lock.json')).json()
    const { '': root, ...packages } = lock.packages
    expect(root.dependencies).toEqual(dependencies)
    for (const bun of Object.keys(packages)) expect(bun).toMatch(/^node_modules\/(@oven\/)?bun/)
    expect(Object.keys(packages)).toContain('node_modules/@oven/bun-linux-x64')
    for (const { version, integrity } of Object.values<Record<string, string>>(packages)) {
      expect([version, integrity]).toEqual([Bun.version, expect.stringMatching(/^sha512-/)])
    }
  },
)
