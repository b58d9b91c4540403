import { expect, test } from 'bun:test'
import { createSentences } from './sentences.ts'

/** The sentences of a text that comes in pieces of `size` characters. */
function cut(text: string, size = 1): string[] {
  const sentences = createSentences()
  const all: string[] = []
  for (let at = 0; at < text.length; at += size) {
    all.push(...sentences.push(text.slice(at, at + size)))
  }
  return [...all, ...sentences.finish()]
}

const CASES: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'Chinese marks',
    '你好！今天天气很好。出去吗？好',
    ['你好！', '今天天气很好。', '出去吗？', '好'],
  ],
  [
    'Latin marks',
    'Hi there! It is 3.14. Is it? Yes',
    ['Hi there!', 'It is 3.14.', 'Is it?', 'Yes'],
  ],
  ['Latin marks before Chinese', '你好!我是月基地.你呢?', ['你好!', '我是月基地.你呢?']],
  ['lines', '第一行\n第二行', ['第一行', '第二行']],
  ['the numbers of a list', '1. 苹果\n2. 香蕉\n', ['1. 苹果', '2. 香蕉']],
  ['addresses', '见 https://a.example/x?y=1&z=2。完', ['见 链接。', '完']],
  ['Markdown and emoji', '# 标题\n**好的**😀！\n- 一', ['标题', '好的！', '一']],
  ['code', '看：\n```js\nlet a = 1. \n```\n完。', ['看：', '代码请看文字回复。', '完。']],
  ['code without an end', '```\nx\ny', ['代码请看文字回复。']],
  ['English code', 'See:\n```\nx\n```\nOK', ['See:', 'The code is in the written answer.', 'OK']],
  ['English addresses', 'See https://a.example/b for it. OK', ['See link for it.', 'OK']],
  [
    'programs in Chinese',
    '用 React 和 Vue 写：\n```\n汉\n```',
    ['用 React 和 Vue 写：', '代码请看文字回复。'],
  ],
  ['nothing to say', '😀\n---\n', []],
]

test.each(CASES)('%s end sentences, however the text comes', (_, text, expected) => {
  for (const size of [1, 2, 7, 1_000]) expect(cut(text, size)).toEqual([...expected])
})

test('an answer that begins with code has the language of its question', () => {
  const inWords = (question: string) => createSentences(question).push('```\nx = 1\n```\n')
  expect(inWords('Write me a loop, please')).toEqual(['The code is in the written answer.'])
  expect(inWords('写一个 for 循环')).toEqual(['代码请看文字回复。'])
})

test('a sentence is returned as soon as it is complete', () => {
  const sentences = createSentences()
  expect(sentences.push('你好')).toEqual([])
  expect(sentences.push('。我')).toEqual(['你好。'])
})

test('long sentences are cut at clauses, and in the middle when they have none', () => {
  for (const text of ['今天天气很好，'.repeat(30), '好'.repeat(150), 'word '.repeat(60)]) {
    const pieces = cut(text)
    expect(pieces.length).toBeGreaterThan(1)
    for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(60)
    expect(pieces.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''))
  }
  for (const piece of cut('今天天气很好，'.repeat(30))) expect(piece).toEndWith('，')
})
