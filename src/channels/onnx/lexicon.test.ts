import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fewestPieces } from './fewest-pieces.ts'
import { readLexicon } from './lexicon.ts'
import { translatedShares } from './translations.ts'

const LINES = [
  '保修 warranty guarantee',
  '保修期 warranties',
  '农民 farmers peasant',
  '谁',
  '水 water',
  'niu 牛妞',
  'lao 劳老佬',
  'yang 羊杨',
  '羊 yang',
]

function lexicon() {
  const folder = mkdtempSync(join(tmpdir(), 'lexicon-'))
  try {
    expect(readLexicon(folder)).toBeNull()
    writeFileSync(join(folder, 'lexicon.gz'), Bun.gzipSync(LINES.join('\n')))
    return readLexicon(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const wordsOf = (question: string) =>
  lexicon()
    ?.conceptsOf(question)
    .map(({ words }) => words)
const nameIn = (question: string, text: string) =>
  lexicon()
    ?.conceptsOf(question)
    .some(({ name }) => name?.test(text))

test('a text is cut into as few known pieces as can be', () => {
  const known = new Set(['ab', 'abc', 'cd', 'd', 'bc', 'wxyz', 'p', 'pq', 'qrs', 'rs'])
  const cut = (text: string) => fewestPieces(text, (piece) => known.has(piece), 3)
  expect(cut('abcd')).toEqual(['abc', 'd'])
  expect(cut('abcdd')).toEqual(['abc', 'd', 'd'])
  expect(cut('xab')).toEqual(['x', 'ab'])
  // No piece is longer than it may be, and of as many pieces the one with the longest is taken.
  expect(cut('wxyz')).toEqual(['w', 'x', 'y', 'z'])
  expect(cut('pqrs')).toEqual(['p', 'qrs'])
  expect(cut('')).toEqual([])
})

test('Chinese words have the stems of their English ones, a single character counts less', () => {
  expect(wordsOf('保修期')).toEqual([['warranti']])
  expect(wordsOf('农民保修')).toEqual([
    ['farmer', 'peasant'],
    ['warranti', 'guarante'],
  ])
  expect(
    lexicon()
      ?.conceptsOf('水')
      .map(({ weight }) => weight < 1),
  ).toEqual([true])
  expect(wordsOf('谁')).toEqual([])
  expect(wordsOf('水'.repeat(100_000))).toHaveLength(30)
  // Of a long question the beginning alone is read.
  expect(wordsOf(`${' '.repeat(990)}保修期`)).toHaveLength(1)
  expect(wordsOf(`${' '.repeat(1_000)}保修期`)).toEqual([])
})

test('an English word has itself and its Chinese ones in any form', () => {
  expect(wordsOf('Warranty, farmer')).toEqual([
    ['warranti', '保修', '保修期'],
    ['farmer', '农民'],
  ])
  expect(wordsOf('X100 的水')).toEqual([['x100'], ['water']])
})

test('a name in Latin letters is found by the reading of Chinese characters', () => {
  expect(nameIn('Niulao', '他叫牛老。')).toBe(true)
  expect(nameIn('Niu Lao', '他叫牛老。')).toBe(true)
  expect(nameIn('Yang Niu', '杨牛')).toBe(true)
  expect(nameIn('Niulao', '老牛')).toBe(false)
  expect(nameIn('yang', '羊')).toBe(false)
  expect(nameIn('niu', '牛')).toBe(false)
})

test('a passage says as much of a question as it has rare concepts', () => {
  const concept = (...words: string[]) => ({ words, name: null, weight: 1 })
  const texts = [['farmer', 'water'], ['farmer'], ['farmer'], ['other']].map((stems) => ({
    text: '',
    stems,
  }))
  const concepts = [concept('farmer'), concept('water', 'sea')]
  const [both = 0, one = 0, , none] = translatedShares(concepts, texts)
  expect(both).toBe(1)
  expect(one).toBeGreaterThan(0)
  expect(one).toBeLessThan(0.4)
  expect(none).toBe(0)
  // What no text says counts as the rarest.
  const [less = 1] = translatedShares([...concepts, concept('ship')], texts)
  expect(less).toBeLessThan(0.6)
  expect(translatedShares([], texts)).toEqual([0, 0, 0, 0])
})
