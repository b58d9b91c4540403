import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempFolder } from '../test/support/temp.ts'
import { buildWeb } from './build-web.ts'

test('two builds at once leave one whole console and nothing beside it', async () => {
  using folder = tempFolder()
  const out = join(folder.path, 'web')
  expect(await Promise.all([buildWeb(out, true), buildWeb(out, true)])).toEqual([true, true])
  expect(readdirSync(folder.path)).toEqual(['web'])
  const page = readFileSync(join(out, 'index.html'), 'utf8')
  const assets = [...page.matchAll(/\/(assets\/[\w.-]+)/g)].map(([, path = '']) => path)
  expect(assets.length).toBeGreaterThan(3)
  expect(assets.filter((path) => !existsSync(join(out, path)))).toEqual([])
  expect(await buildWeb(out)).toBe(false)
}, 60_000)
