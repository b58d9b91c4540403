import { expect, test } from 'bun:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/**
 * The tests of the API that ask the database most. Others move the clock of the process, which
 * that of PostgreSQL does not follow, or break the file of SQLite.
 */
const FILES = [
  ...['agent-turns', 'sessions', 'conversations', 'kb', 'apps', 'keys', 'logs', 'audit'],
  ...['budgets', 'kb-access', 'settings-usage', 'members', 'transfer', 'login/session'],
  ...['branches', 'long-branches', 'deleted-talks', 'source-versions'],
].map((name) => `test/api/${name}.test.ts`)

test('the API answers on PostgreSQL as it does on SQLite', async () => {
  const child = Bun.spawn([process.execPath, 'test', '--timeout', '60000', ...FILES], {
    cwd: ROOT,
    env: { ...process.env, MOONBASE_TEST_DATABASE: 'postgres' },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const streams = [child.stdout, child.stderr]
  const [out, err] = await Promise.all(streams.map(Bun.readableStreamToText))
  const report = `${out}${err}`
  if ((await child.exited) !== 0) throw new Error(report.slice(-8_000))
  expect(report.match(/Ran \d+ tests across (\d+) files/)?.[1]).toBe(String(FILES.length))
}, 400_000)
