import { describe, expect, test } from 'bun:test'
import { type Block, cutParts, fitting, type Part } from './cut.ts'

const block = (text: string, page: number | null = null, heading: string | null = null): Block => ({
  text,
  page,
  heading,
})
const cut = (blocks: readonly Block[], bytesMax: number): Part[] => [...cutParts(blocks, bytesMax)]
const texts = (blocks: readonly Block[], bytesMax: number) =>
  cut(blocks, bytesMax).map(({ text }) => text)

describe('parts', () => {
  test('a text that fits is one part, with gaps between its blocks', () => {
    expect(cut([block('甲'), block('乙')], 8)).toEqual([{ text: '甲\n\n乙', places: null }])
  })

  test('a part ends at the last end of a page before a heading or a paragraph', () => {
    const blocks = [block('a', 1, 'A'), block('b', 1, 'B'), block('c', 2, 'B'), block('d', 2, 'D')]
    expect(texts(blocks, 10)).toEqual(['a\n\nb\n\nc\n\nd'])
    expect(texts(blocks, 9)).toEqual(['a\n\nb', 'c\n\nd'])
    expect(texts(blocks, 4)).toEqual(['a\n\nb', 'c\n\nd'])
  })

  test('within one page a part ends before the last heading, else between two blocks', () => {
    const blocks = [block('a', 1, 'A'), block('b', 1, 'B'), block('c', 1, 'B'), block('d', 1, 'B')]
    expect(texts(blocks, 9)).toEqual(['a', 'b\n\nc\n\nd'])
    expect(texts(blocks.slice(1), 4)).toEqual(['b\n\nc', 'd'])
  })

  test('the places say where in the part each page and heading begins', () => {
    const [part] = cut([block('甲', 1), block('乙𠮷', 2, '二')], 100)
    expect(part?.places).toEqual([
      { start: 0, page: 1, heading: null },
      { start: 3, page: 2, heading: '二' },
    ])
  })

  test('no part is larger than its limit, and none of the text is lost', () => {
    const blocks = Array.from({ length: 300 }, (_, i) =>
      block(`第${i}段${'文字'.repeat(i % 40)}`, 1 + Math.floor(i / 7), `第${i % 3}节`),
    )
    for (const bytesMax of [300, 1_000, 5_000]) {
      const parts = texts(blocks, bytesMax)
      for (const part of parts) expect(Buffer.byteLength(part)).toBeLessThanOrEqual(bytesMax)
      expect(parts.join('\n\n')).toBe(texts(blocks, 1e9).join(''))
    }
  })
})

describe('a block larger than a document', () => {
  const pieces = (text: string, bytesMax: number) =>
    [...fitting(block(text, 3, '章'), bytesMax)].map((one) => one.text)

  test.each([
    [
      'paragraphs',
      `${'a'.repeat(30)}\n\n${'b'.repeat(5)}\n${'c'.repeat(30)}`,
      ['a'.repeat(30), `bbbbb\n${'c'.repeat(30)}`],
    ],
    ['lines', `${'a'.repeat(30)}\n${'b'.repeat(30)}`, ['a'.repeat(30), 'b'.repeat(30)]],
    ['sentences', `${'甲'.repeat(9)}。${'乙'.repeat(9)}`, [`${'甲'.repeat(9)}。`, '乙'.repeat(9)]],
    ['words', `${'a'.repeat(25)} ${'b'.repeat(25)}`, ['a'.repeat(25), 'b'.repeat(25)]],
    ['characters', '𠮷'.repeat(15), ['𠮷'.repeat(10), '𠮷'.repeat(5)]],
  ])('a block larger than a document is cut at the end of %s', (_name, text, expected) => {
    expect(pieces(text, 40)).toEqual(expected)
  })

  test('the pieces of a large block keep page and heading', () => {
    expect([...fitting(block('字'.repeat(20), 3, '章'), 30)]).toEqual([
      block('字'.repeat(10), 3, '章'),
      block('字'.repeat(10), 3, '章'),
    ])
  })
})
