import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { copyAll, stepsOf } from '../../src/commands/copy-store.ts'
import { MIGRATIONS } from '../../src/storage/migrations/index.ts'
import { ROOT } from '../support/command.ts'
import { tempFolder } from '../support/temp.ts'

test('a copy tells of each row that it has announced, once', async () => {
  using folder = tempFolder()
  const newest = MIGRATIONS.at(-1)?.name ?? ''
  const packed = join(ROOT, 'test/fixtures/databases', `${newest}.db.gz`)
  writeFileSync(folder.file('box.db'), Bun.gunzipSync(await Bun.file(packed).arrayBuffer()))
  using source = new Database(folder.file('box.db'), { readonly: true })
  const told: Record<string, number> = {}
  const index = { upsert: () => [] }
  await copyAll({
    ...{ source, vectors: index, words: index, change: (_table, row) => row },
    execute: async () => [],
    progress: {
      add(name, count) {
        told[name] = (told[name] ?? 0) + count
      },
    },
  })
  const announced = stepsOf(source).filter(({ rows }) => rows > 0)
  expect(told).toEqual(Object.fromEntries(announced.map(({ name, rows }) => [name, rows])))
  expect(told).toMatchObject({ turn: expect.any(Number), kb_word: expect.any(Number) })
  expect(told).toHaveProperty('kb_vector')
})
