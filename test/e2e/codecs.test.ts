import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { ROOT } from '../support/command.ts'
import { tempFolder } from '../support/temp.ts'

test('an executable alone in an empty folder, with an empty environment, runs every codec', () => {
  using folder = tempFolder()
  const entry = join(ROOT, 'test/fixtures/codec-smoke.ts')
  const outfile = folder.file('smoke')
  const script = join(ROOT, 'scripts/build.ts')
  const build = Bun.spawnSync([process.execPath, script, '--entry', entry, '--outfile', outfile])
  expect(build.stderr.toString()).toBe('')
  const run = Bun.spawnSync([outfile], { cwd: folder.path, env: {} })
  expect(run.stderr.toString()).toBe('')
  const answer = JSON.parse(run.stdout.toString())
  const fromSource = Bun.spawnSync([process.execPath, entry], { cwd: folder.path })
  expect(answer).toEqual(JSON.parse(fromSource.stdout.toString()))
  expect(answer).toMatchObject({
    encoded: { first: { rate: 32_000, kbps: 128, channels: 1 } },
    wav: 16_000,
    flac: 16_000,
    vorbis: 16_000,
    noise: 'unreadable audio',
    pinyin: 'ni3 hao3',
    pdf: '保修期为两年',
  })
  for (const name of ['mp3', 'ownMp3', 'ogg', 'webm', 'ownOpus']) {
    expect(answer[name]).toBeWithin(15_600, 19_000)
  }
  expect(answer.seconds).toBeCloseTo(1, 1)
}, 60_000)
