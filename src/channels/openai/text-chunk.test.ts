import { describe, expect, test } from 'bun:test'
import { TextChunks } from './text-chunk.ts'

const chunk = (content: string, fields: object = {}) =>
  JSON.stringify({
    id: 'x',
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
    ...fields,
  })

function learnt(payload: string, text: string) {
  const chunks = new TextChunks()
  chunks.learn(payload, text)
  return chunks
}

describe('text chunks of one shape', () => {
  test('are read without parsing', () => {
    const chunks = learnt(chunk('one'), 'one')
    for (const text of ['two', '', '你好', '🚀 é', "it's {x}: [y], </z>", 'one']) {
      expect(chunks.read(chunk(text))).toBe(text)
    }
  })

  test('whatever blank space the vendor writes', () => {
    const spaced = (text: string) => `{"choices": [{"delta": {"content":  "${text}"}}]}`
    expect(learnt(spaced('a'), 'a').read(spaced('b'))).toBe('b')
  })

  const others: readonly (readonly [string, string])[] = [
    ['an escaped quote', chunk('say "hi"')],
    ['an escaped newline', chunk('a\nb')],
    ['a backslash', chunk('a\\b')],
    ['a quote that ends the text', chunk('a').replace('"a"', '"a","x":"b"')],
    ['a raw control character', chunk('ab').replace('ab', 'a\nb')],
    ['a finish reason', chunk('a').replace('null', '"stop"')],
    ['another id', chunk('a').replace('"x"', '"y"')],
    ['one more field', chunk('a', { usage: {} })],
    ['a cut end', chunk('a').slice(0, -1)],
    ['something after it', `${chunk('a')}x`],
    ['[DONE]', '[DONE]'],
    ['nothing', ''],
  ]
  for (const [name, payload] of others) {
    test(`to be parsed: ${name}`, () => {
      expect(learnt(chunk('one'), 'one').read(payload)).toBeNull()
    })
  }

  test('head and tail may not overlap', () => {
    const chunks = learnt('{"delta":{"content":"a"}}', 'a')
    expect(chunks.read('{"delta":{"content":"}}')).toBeNull()
    expect(chunks.read('{"delta":{"content":""}}')).toBe('')
  })

  test('nothing is learnt where the place of the text is not plain', () => {
    for (const [payload, text] of [
      [chunk('a', { note: { content: 'a' } }), 'a'],
      [chunk('a\nb'), 'a\nb'],
      ['{"choices":[{"delta":{"content":"\\u0061"}}]}', 'a'],
      ['{"choices":[{"delta":{"content":["a"]}}]}', 'b'],
      ['{}', 'a'],
    ] as const) {
      expect(learnt(payload, text).read(payload)).toBeNull()
    }
  })

  test('gives up on a vendor that varies every chunk', () => {
    const chunks = new TextChunks()
    for (let n = 0; n < 20; n++) chunks.learn(chunk('a', { n }), 'a')
    expect(chunks.read(chunk('a', { n: 19 }))).toBeNull()
  })
})
