import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dir, '..', '..')
const dir = mkdtempSync(join(tmpdir(), 'moonbase-native-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

test('an executable alone, with an empty environment, loads every native part', () => {
  const entry = join(root, 'test/fixtures/native-smoke.ts')
  const outfile = join(dir, 'smoke')
  const script = join(root, 'scripts/build.ts')
  const build = Bun.spawnSync([process.execPath, script, '--entry', entry, '--outfile', outfile])
  expect(build.stderr.toString()).toBe('')
  const fromSource = Bun.spawnSync([process.execPath, entry], { cwd: dir })
  const run = Bun.spawnSync([outfile], { cwd: dir, env: {} })
  const answer = JSON.parse(run.stdout.toString())
  expect(answer.vec.v).toMatch(/^v0\./)
  expect(answer.dims).toBe(767)
  expect(answer.norm).toBeCloseTo(1, 5)
  expect(answer).toEqual(JSON.parse(fromSource.stdout.toString()))
})
