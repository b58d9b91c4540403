import { expect, test } from 'bun:test'
import { normalize } from '../../core/vector.ts'
import { createWordSimilarity } from './word-similarity.ts'

/** Words of one group mean alike; the vector of a text is the mean of its words'. */
const GROUPS = [['car', 'auto'], ['price', 'cost'], ['rain'], ['dog']]
const asked: string[] = []

/** Knows one word. */
const LEXICON = {
  conceptsOf: () => [{ words: ['auto'], name: null, weight: 1 }],
}

async function embed(texts: readonly string[]): Promise<Float32Array[]> {
  asked.push(...texts)
  return texts.map((text) => {
    const vector = new Float32Array(256)
    for (const word of text.toLowerCase().split(' ')) {
      const group = GROUPS.findIndex((words) => words.includes(word))
      const at = group < 0 ? 100 + (Bun.hash.crc32(word) % 100) : group
      vector[at] = (vector[at] ?? 0) + 1
    }
    return normalize(vector)
  })
}

/** The similarities of whole passages, and the answers as they are. */
function words() {
  const compare = createWordSimilarity(embed, () => LEXICON)
  const similarities = async (question: string, texts: readonly string[]) =>
    (await compare(question, texts)).map(({ whole }) => whole)
  return { compare, similarities }
}

test('a passage holds a word by another one that means the same', async () => {
  const { similarities } = words()
  const [alike, half, none] = await similarities('Car price', [
    'what an auto may cost',
    'an auto in the garage',
    'a dog in the rain',
  ])
  expect(alike).toBeCloseTo(1, 5)
  expect(half).toBeGreaterThan(0.3)
  expect(half).toBeLessThan(0.7)
  expect(none).toBeCloseTo(0, 5)
})

test('a word that few of the passages hold counts for more', async () => {
  const { similarities } = words()
  const [rare, common] = await similarities('dog rain', ['dog', 'rain', 'rain', 'rain'])
  expect(rare).toBeGreaterThan(common ?? 1)
})

test('the words of a passage are embedded once', async () => {
  const { similarities } = words()
  const first = await similarities('dog', ['a dog in the rain'])
  asked.length = 0
  expect(await similarities('dog', ['a dog in the rain'])).toEqual(first)
  expect(asked).toEqual(['dog', 'dog'])
})

test('texts without words are like nothing, and one of thousands of words is cut', async () => {
  const { similarities } = words()
  expect(await similarities('?!', ['dog', 'rain'])).toEqual([0, 0])
  expect(await similarities('dog', ['…', 'dog'])).toEqual([0, 1])
  asked.length = 0
  const long = Array.from({ length: 5_000 }, (_, i) => `w${i}`).join(' ')
  expect(await similarities('dog', [long])).toHaveLength(1)
  expect(asked.length).toBeLessThan(500)
})

test('similarities stay right after thousands of words were forgotten', async () => {
  const { similarities } = words()
  const before = await similarities('car price', ['an auto', 'a dog'])
  for (let page = 0; page < 50; page++) {
    const words = Array.from({ length: 400 }, (_, i) => `p${page}w${i}`).join(' ')
    await similarities('dog', [words])
  }
  expect(await similarities('car price', ['an auto', 'a dog'])).toEqual(before)
})

test('the sentence with most of the question is told, and a title only alone', async () => {
  const { compare } = words()
  const text = 'auto price\na dog in the rain. an auto and what it may cost. an auto alone'
  const [found, alone] = await compare('car price', [text, 'auto price'])
  expect(text.slice(found?.at?.from, found?.at?.to).trim()).toBe('an auto and what it may cost.')
  expect(alone?.at).toEqual({ from: 0, to: 10 })
  const [none] = await compare('car price', ['…'])
  expect(none).toEqual({ whole: 0, translated: 0, at: null })
})

test('a passage in the other script says the question in translated words', async () => {
  const { compare } = words()
  const texts = ['autos in the garage', 'a dog in the rain', '汽车 auto']
  const said = async (question: string) =>
    (await compare(question, texts)).map(({ translated }) => translated)
  expect(await said('汽车')).toEqual([1, 0, 0])
  expect(await said('auto')).toEqual([0, 0, 0])
})
