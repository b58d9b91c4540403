import { expect, test } from 'bun:test'
import { queryTerms, termsOf } from '../../src/features/knowledge/search/terms.ts'
import type { WordMatch } from '../../src/storage/indexes.ts'
import { readEveryday } from '../support/everyday.ts'
import { INDEX_ADAPTERS, newDoc } from '../support/indexes.ts'

/** Of documents and questions of everyday use, in both languages. */
const sets = (['zh', 'en'] as const).map(readEveryday)
const docs = sets.flatMap(({ bases }) => bases.flatMap((base) => base.docs))
const entries = docs.map(({ title, text }, i) => ({
  key: i + 1,
  terms: termsOf(`${title}\n${text}`),
}))
const misspelt = ['epsreso machnie', 'refudns', 'warrantty', '猫', '钱']
const questions = [
  ...sets.flatMap(({ bases }) => bases.flatMap(({ asked }) => asked.map((one) => one.question))),
  ...misspelt,
]

/** Equal ones in the order of their keys: sums of the same numbers may differ in the last digit. */
const rounded = (matches: readonly WordMatch[]) =>
  matches
    .map(({ key, coverage }) => ({ key, coverage: Number(coverage.toFixed(6)) }))
    .toSorted((a, b) => b.coverage - a.coverage || a.key - b.key)

test('both word indexes give the same order and the same coverage', async () => {
  const [expected, found] = await Promise.all(
    INDEX_ADAPTERS.map(async ({ open: openIndexes }) => {
      await using open = await openIndexes()
      await open.db.batch([...newDoc('a', entries.length), ...open.words.upsert('a', entries)])
      // Others do not change it.
      const others = entries.slice(0, 20).map(({ key, terms }) => ({ key: key + 10_000, terms }))
      await open.db.batch([...newDoc('b', others.length), ...open.words.upsert('b', others)])
      const search = (text: string) => open.words.search('a', queryTerms(text), entries.length)
      return (await Promise.all(questions.map(search))).map(rounded)
    }),
  )
  expect(found).toEqual(expected)
})
