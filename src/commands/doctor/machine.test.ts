import { expect, test } from 'bun:test'
import { utimesSync, writeFileSync } from 'node:fs'
import { tempFolder } from '../../../test/support/temp.ts'
import { loadConfig } from '../../config.ts'
import { checkClock, checkFiles, checkMemory } from './machine.ts'

test('the doctor reports few open files and how many streams they allow', () => {
  const config = loadConfig({})
  const [few] = checkFiles(config, 256)
  expect(few).toMatchObject({ level: 'warn', text: expect.stringContaining('78 streams') })
  expect(few?.mend).toContain('ulimit')
  expect(checkFiles(config, 65_536)).toMatchObject([{ level: 'ok' }])
  expect(checkFiles(loadConfig({ MB_MAX_STREAMS: '50' }), 256)).toMatchObject([{ level: 'ok' }])
  expect(checkFiles(config)).toHaveLength(process.platform === 'linux' ? 1 : 0)
})

test('the doctor reports a small share of memory', () => {
  expect(checkMemory(128 * 1024 ** 2)).toMatchObject({
    level: 'warn',
    text: expect.stringMatching(/^128 MiB/),
  })
  expect(checkMemory(1024 ** 3)).toMatchObject({ level: 'ok' })
})

test('the doctor reports a clock that cannot be right', () => {
  using folder = tempFolder()
  const config = loadConfig({ MB_DATA_DIR: folder.path })
  const now = Date.UTC(2027, 0, 1)
  expect(checkClock(config, now).level).toBe('ok')
  expect(checkClock(config, 0).level).toBe('fail')
  expect(checkClock(config, 0).text).toStartWith('it is 1970-01-01')
  writeFileSync(folder.file('moonbase.db'), '')
  utimesSync(folder.file('moonbase.db'), now / 1000, now / 1000 + 86_400)
  expect(checkClock(config, now).level).toBe('warn')
})
