import { describe, expect, test } from 'bun:test'
import { CHUNK_CHARS_MAX, chunk, cutChunks } from './chunking.ts'

const size = (text: string) => [...text].length

/** Rebuilds the text: each chunk must begin inside or right behind what came before. */
function placements(text: string, chunks: readonly string[]): { start: number; end: number }[] {
  const placed: { start: number; end: number }[] = []
  for (const piece of chunks) {
    const last = placed.at(-1)
    // The latest start that still leaves no gap, and adds something.
    let start = last ? last.end : 0
    while (
      start >= 0 &&
      !(text.startsWith(piece, start) && start + piece.length > (last?.end ?? -1))
    )
      start--
    expect(start).toBeGreaterThanOrEqual(last ? last.start : 0)
    placed.push({ start, end: start + piece.length })
  }
  return placed
}

/** A small deterministic generator (mulberry32), so that a failure can be repeated. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

const ATOMS = [
  '知识库检索',
  '分段',
  '。',
  '！',
  '，',
  'word ',
  'sentence. ',
  '\n',
  '\n\n',
  '# 标题\n',
  '| a | b |\n',
  '```\ncode\n```\n',
  '👨‍👩‍👧‍👦',
  'é',
  '🇨🇳',
  '𠮷',
  '1.5',
  '第36条 ',
  '    ',
  '“引号。”',
]

function sample(seed: number): string {
  const next = random(seed)
  const count = Math.floor(next() * 900)
  return Array.from({ length: count }, () => ATOMS[Math.floor(next() * ATOMS.length)]).join('')
}

describe('every text', () => {
  for (let seed = 1; seed <= 60; seed++) {
    test(`bounded chunks cover every text in order (seed ${seed})`, () => {
      const text = sample(seed)
      const chunks = chunk(text)
      const placed = placements(text, chunks)
      expect(placed.at(-1)?.end ?? 0).toBe(text.length)
      for (const piece of chunks) expect(size(piece)).toBeLessThanOrEqual(CHUNK_CHARS_MAX)
      const segments = new Set([
        ...[...new Intl.Segmenter('und').segment(text)].map((s) => s.index),
        text.length,
      ])
      for (const { start, end } of placed) {
        expect(segments.has(start)).toBe(true)
        expect(segments.has(end)).toBe(true)
      }
      expect(chunk(text)).toEqual(chunks)
    })
  }
})

test('a text without any boundary gives 600 code points with 100 of overlap', () => {
  const text = Array.from({ length: 2000 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join('')
  expect(chunk(text)).toEqual([
    text.slice(0, 600),
    text.slice(500, 1100),
    text.slice(1000, 1600),
    text.slice(1500, 2000),
  ])
})

test('neighbouring chunks overlap by about 100 code points', () => {
  const sentence = '夏天的雨来得快也去得快，屋檐下的燕子却不慌不忙。'
  const text = Array.from({ length: 200 }, (_, i) => `${i}${sentence}`).join('')
  const chunks = chunk(text)
  for (let i = 1; i < chunks.length; i++) {
    const [before, piece] = [chunks[i - 1] ?? '', chunks[i] ?? '']
    const shared = [...piece].findIndex(
      (_, n) => n > 0 && !before.endsWith(piece.slice(0, n)) && n > 60,
    )
    expect(before.endsWith('。')).toBe(true)
    expect(piece).toMatch(/^\d/)
    expect(before).toContain(piece.slice(0, 60))
    expect(shared).toBeLessThanOrEqual(142)
    expect(size(before)).toBeGreaterThan(450)
  }
})

test('a short text is one chunk, an empty one has none', () => {
  expect(chunk('')).toEqual([])
  expect(chunk('短。')).toEqual(['短。'])
  expect(chunk('字'.repeat(640))).toHaveLength(1)
})

test('chunk sizes count code points, not UTF-16 units', () => {
  const text = Array.from({ length: 1200 }, (_, i) => String.fromCodePoint(0x20000 + i)).join('')
  expect(chunk(text).map(size)).toEqual([600, 600, 200])
})

test('a chapter begins a chunk when the one before is long enough', () => {
  const body = '这是一段没有特别之处的正文。'.repeat(30)
  const text = `# 甲\n\n${body}\n\n# 乙\n\n${body}`
  const [first, second] = chunk(text)
  expect(first?.trimEnd().endsWith('正文。')).toBe(true)
  expect(first).not.toContain('# 乙')
  expect(second).toContain('# 乙')
})

test('a section has a chunk of its own, short ones share one', () => {
  const section = (name: string, sentences: number) =>
    `## ${name}\n\n${'这是一段没有特别之处的正文。'.repeat(sentences)}\n\n`
  const text = ['甲', '乙', '丙'].map((name) => section(name, 15)).join('')
  expect(chunk(text).map((piece) => piece.match(/## ./g))).toEqual([
    ['## 甲'],
    ['## 乙'],
    ['## 丙'],
  ])
  const short = ['甲', '乙', '丙', '丁'].map((name) => section(name, 2)).join('')
  const [first, second, ...rest] = chunk(short)
  expect(first?.match(/## ./g)).toEqual(['## 甲', '## 乙'])
  expect(second).toContain('## 丙')
  expect(second).toContain('## 丁')
  expect(rest).toEqual([])
  expect(chunk(`${section('甲', 15)}## 乙\n\n短。`)).toHaveLength(1)
})

test('tables and code that fit stay whole', () => {
  const row = (i: number) => `| 型号 AB-${1000 + i} | ${i * 3} 元 |\n`
  const rows = Array.from({ length: 22 }, (_, i) => row(i)).join('')
  const table = `| 型号 | 价格 |\n| --- | --- |\n${rows}`
  const code = `\`\`\`ts\n${'const answer = 42 // 说明。 更多说明。\n'.repeat(13)}\`\`\`\n`
  const filler = (n: number) => '前面的说明文字，用来占位。'.repeat(n)
  for (const block of [table, code]) {
    expect(size(block)).toBeLessThan(600)
    for (const before of [1, 5, 10, 25, 33, 44]) {
      const chunks = chunk(`${filler(before)}\n\n${block}\n${filler(60)}`)
      expect(chunks.some((piece) => piece.includes(block.trim()))).toBe(true)
    }
  }
})

test('a table that does not fit is cut between rows', () => {
  const rows = Array.from({ length: 80 }, (_, i) => `| 第${i}行 | 一些内容。还有。 | 更多 |\n`)
  for (const piece of chunk(rows.join('')).slice(0, -1)) expect(piece.endsWith('|\n')).toBe(true)
})

test('chunks do not end at full stops of numbers and addresses', () => {
  const text = `${'x'.repeat(560)} version 3.14159265 at example.com/path ${'y'.repeat(400)}`
  expect(chunk(text)[0]).not.toMatch(/(3|example)\.$/)
})

test('endless graphemes, unclosed fences and blanks are cut into chunks', () => {
  for (const text of [
    `e${'\u0301'.repeat(5000)}`,
    '```\n'.repeat(3000),
    ' '.repeat(5000),
    '|\n'.repeat(5000),
  ]) {
    const chunks = chunk(text)
    // Text that repeats itself does not tell where a chunk came from.
    expect(text.startsWith(chunks[0] ?? '-')).toBe(true)
    expect(text.endsWith(chunks.at(-1) ?? '-')).toBe(true)
    expect(size(chunks.join(''))).toBeGreaterThanOrEqual(text.length)
    for (const piece of chunks) expect(size(piece)).toBeLessThanOrEqual(CHUNK_CHARS_MAX)
    expect(chunks.length).toBeLessThan(text.length / 50)
  }
})

describe('pages', () => {
  const pages = (...texts: string[]) => {
    const starts = texts.map((_, i) => texts.slice(0, i).join('').length)
    return cutChunks(texts.join(''), starts.slice(1))
  }

  test('each page begins a chunk, however short it is', () => {
    const texts = ['第一页。\n\n', '第二页。\n\n', '第三页。']
    expect(pages(...texts)).toEqual([
      { text: '第一页。\n\n', freshAt: 0 },
      { text: '第二页。\n\n', freshAt: 6 },
      { text: '第三页。', freshAt: 12 },
    ])
  })

  test('a page overlaps with the end of a long one before it', () => {
    const long = '很长的一页有许多句子。'.repeat(40)
    const [, second] = pages(long, '第二页。')
    expect(second?.freshAt).toBe(long.length)
    expect(second?.text).toMatch(/^很长的一页.*子。第二页。$/)
    expect(second?.text.length).toBeLessThan(200)
  })

  test('pages outside the basic plane are counted by characters', () => {
    expect(pages('𠮷𠮷', '甲').map(({ text }) => text)).toEqual(['𠮷𠮷', '甲'])
  })
})

test('a short section is not repeated in the next chunk', () => {
  const sections = ['甲', '乙'].map((name) => `# ${name}\n${`${name}的规定。`.repeat(14)}\n`)
  expect(chunk(sections.join(''))).toEqual(sections)
})

test.each([
  ['sections', (i: number) => `# 标题${i}\n${'字'.repeat(55)}\n`],
  ['tables', (i: number) => `短\n\n${`| ${i} | b |\n`.repeat(60)}\n`],
])('a document of the largest size has no more chunks than keys, with %s', (_name, part) => {
  const text = Array.from({ length: 20_000 }, (_, i) => part(i)).join('')
  for (const length of [60_000, 102_400, 409_600]) {
    const chunks = chunk(text.slice(0, length))
    expect(chunks.length).toBeLessThanOrEqual(1_024)
    expect(chunks.join('').length).toBeGreaterThanOrEqual(length)
  }
  const starts = Array.from({ length: 100_000 }, (_, i) => 4 * i)
  expect(cutChunks(text.slice(0, 400_000), starts).length).toBeLessThanOrEqual(1_024)
})
