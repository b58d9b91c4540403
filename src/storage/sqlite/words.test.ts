import { expect, test } from 'bun:test'
import { newDoc, openIndexes } from '../../../test/support/indexes.ts'
import { tempFolder } from '../../../test/support/temp.ts'
import type { Statement } from '../db.ts'
import { createWordIndex } from './words.ts'

test('questions of any number and kind of terms are asked by the same statements', async () => {
  using folder = tempFolder()
  await using open = await openIndexes(folder.path)
  const names = Array.from({ length: 30 }, (_, n) => `word${n}`)
  const entries = [{ key: 1, terms: names }]
  await open.db.batch([...newDoc('t', 1), ...open.words.upsert('t', entries)])
  const texts = new Set<string>()
  const words = createWordIndex({
    ...open.reader,
    all<Row>(tenantId: string, statement: Statement) {
      texts.add(statement.sql)
      return open.reader.all<Row>(tenantId, statement)
    },
  })
  const ask = (terms: readonly string[]) => words.search('t', terms, 5)
  expect(await ask(['word1', 'word2*'])).toHaveLength(1)
  const asked = texts.size
  for (let n = 1; n <= 30; n++) {
    const terms = names.slice(0, n).map((name, i) => (i % n === 1 ? `${name}*` : name))
    expect(await ask(terms)).toHaveLength(1)
  }
  expect(texts.size).toBe(asked)
})
