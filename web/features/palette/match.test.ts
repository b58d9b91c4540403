import { expect, test } from 'bun:test'
import { matching } from './match.ts'

const entry = (label: string, also?: string) => ({
  ...{ id: label, label, run() {} },
  ...(also === undefined ? {} : { also }),
})
const groups = [
  { name: 'pages', entries: [entry('Apps and keys'), entry('Keys', '/app/keys'), entry('Logs')] },
  { name: 'docs', entries: [entry('退货与换货 Returns')] },
]
const labels = (query: string) =>
  matching(groups, query).flatMap(({ entries }) => entries.map(({ label }) => label))

test('the palette finds by all words in any order, the ones that begin so first', () => {
  expect(labels('key')).toEqual(['Keys', 'Apps and keys'])
  expect(labels('KEYS apps')).toEqual(['Apps and keys'])
  expect(labels('换货')).toEqual(['退货与换货 Returns'])
  expect(labels('/app/k')).toEqual(['Keys'])
  expect(labels('nothing')).toEqual([])
  expect(labels(' ')).toHaveLength(4)
})
