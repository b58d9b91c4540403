import { expect, test } from 'bun:test'
import { pageText } from './page-text.ts'

test.each([
  ['unclosed elements and end tags of none of them', '<i>', '</b>'],
  ['unclosed elements in each other', '<svg>', '<p>'],
  ['end tags that close one of many', '<i>', '<b></i>'],
])('a page of %s takes no time and ends where it nests too deep', (_, open, close) => {
  const page = `<p>Read.${open.repeat(500_000)}<p>Not read.${close.repeat(500_000)}`
  expect(pageText(page)).toEqual({ title: '', text: 'Read.' })
})

test('a page that nests as deep as browsers read is read whole', () => {
  const text = `${'<div>'.repeat(512)}deep${'</div>'.repeat(512)}<p>after`
  expect(pageText(text)).toEqual({ title: '', text: 'deep\nafter' })
})
