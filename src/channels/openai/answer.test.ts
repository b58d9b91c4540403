import { describe, expect, test } from 'bun:test'
import { ChannelFailure } from '../../upstream/ports/failure.ts'
import type { LlmPart } from '../../upstream/ports/llm.ts'
import { Answer, ThinkFilter } from './answer.ts'

const delta = (fields: object, finish: string | null = null) => ({
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
})
const STOP = delta({}, 'stop')

const answer = (...payloads: readonly unknown[]) => read(new Answer(), payloads)

function read(reader: Answer, payloads: readonly unknown[]): LlmPart[] {
  const parts: LlmPart[] = []
  for (const payload of payloads) {
    reader.add(typeof payload === 'string' ? payload : JSON.stringify(payload), parts)
  }
  reader.end(parts)
  return parts
}
const textOf = (parts: readonly LlmPart[]) =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

describe('an answer from chunks', () => {
  test('an answer has one text part a chunk, then tool calls, then the finish', () => {
    const call = (args: string) => ({
      tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: args } }],
    })
    const parts = answer(
      delta({ role: 'assistant', content: '' }),
      delta({ content: 'one' }),
      delta({ content: ' two', ...call('{"a"') }),
      delta(call(':1}')),
      STOP,
      { choices: [], usage: { prompt_tokens: 5, completion_tokens: 2 } },
      '[DONE]',
    )
    expect(parts).toEqual([
      { type: 'text', text: 'one' },
      { type: 'text', text: ' two' },
      { type: 'tool_call', call: { id: 'c', name: 'f', arguments: '{"a":1}' } },
      { type: 'finish', reason: 'tool_calls', usage: { inputTokens: 5, outputTokens: 2 } },
    ])
  })

  const ignored: readonly unknown[] = [
    {},
    { type: 'ping' },
    { choices: null },
    { choices: [null] },
    { choices: [{}] },
    { choices: [{ delta: null }] },
    { error: null, choices: [] },
    { usage: null },
    { usage: { prompt_tokens: 'many' } },
    delta({ content: null, reasoning_content: 'hm' }),
    delta({ content: '', reasoning: 'hm', reasoning_details: [{}] }),
    delta({ tool_calls: null }),
    delta({ tool_calls: [] }),
    '',
  ]
  for (const chunk of ignored) {
    test(`an answer ignores the chunk ${JSON.stringify(chunk)}`, () => {
      const parts = answer(delta({ content: 'a' }), chunk, STOP)
      expect([textOf(parts), parts.at(-1)]).toEqual([
        'a',
        { type: 'finish', reason: 'stop', usage: null },
      ])
    })
  }

  test('an answer shows reasoning where it is asked for, up to a limit', () => {
    const shown = (...payloads: readonly unknown[]) =>
      read(new Answer({ showThinking: true }), [...payloads, delta({ content: 'a' }), STOP])
        .map((part) => (part.type === 'thinking' ? part.text : ''))
        .join('')
    const both = { reasoning_content: 'Is it? ', reasoning: 'Is it? ' }
    expect(shown(delta(both), delta({ content: '', reasoning: 'It is.' }))).toBe('Is it? It is.')
    expect(shown(delta({ content: ' <think>\nhm' }), delta({ content: '</think>x' }))).toBe('hm')
    const much = delta({ reasoning_content: 'x'.repeat(150_000) })
    expect(shown(much, much)).toHaveLength(200_000)
  })

  test('an answer reads content as typed pieces, and a refusal', () => {
    const pieces = [
      { type: 'thinking', thinking: [] },
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
      null,
    ]
    expect(textOf(answer(delta({ content: pieces }), STOP))).toBe('ab')
    expect(textOf(answer(delta({ content: null, refusal: '不行' }), STOP))).toBe('不行')
  })

  test('an answer reads chunks of one shape between others', () => {
    const text = (content: string) => delta({ content })
    const parts = answer(text('a'), text('b'), text('"c"'), text('d'), delta({}), text('e'), STOP)
    expect(textOf(parts)).toBe('ab"c"de')
  })

  test('an answer reads all fragments beside equal text', () => {
    const both = delta({
      content: 'a',
      tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '1' } }],
    })
    const parts = answer(both, both, both, STOP)
    expect(textOf(parts)).toBe('aaa')
    expect(parts).toContainEqual({
      type: 'tool_call',
      call: { id: 'c', name: 'f', arguments: '111' },
    })
  })

  test('an answer reports the last usage', () => {
    const usage = (n: number) => ({ ...delta({ content: 'x' }), usage: usageOf(n) })
    const usageOf = (n: number) => ({ prompt_tokens: 9, completion_tokens: n })
    expect(answer(usage(1), usage(2), STOP).at(-1)).toMatchObject({ usage: { outputTokens: 2 } })
  })

  test('an answer ignores what follows [DONE]', () => {
    expect(textOf(answer(delta({ content: 'a' }), '[DONE]', delta({ content: 'b' }), '{'))).toBe(
      'a',
    )
  })

  const faults: readonly (readonly [phrase: string, payloads: readonly unknown[]])[] = [
    ['malformed stream', ['{"choices":[']],
    ['malformed stream', ['null']],
    ['malformed stream', ['42']],
    ['error in stream', [{ error: { message: 'SECRET' } }]],
    ['error in stream', [{ error: 'SECRET' }]],
    ['error in stream', [{ object: 'error', message: 'SECRET' }]],
    ['stream ended early', []],
    ['stream ended early', [delta({ content: 'a' })]],
    ['empty answer', [STOP]],
    ['empty answer', [delta({ reasoning_content: 'hm' }), STOP, '[DONE]']],
    ['empty answer', [delta({ content: '<think>only that</think>' }), STOP]],
  ]
  for (const [phrase, payloads] of faults) {
    test(`an answer fails with ${phrase}: ${JSON.stringify(payloads)}`, () => {
      let thrown: unknown
      try {
        answer(...payloads)
      } catch (error) {
        thrown = error
      }
      expect(thrown).toBeInstanceOf(ChannelFailure)
      expect(thrown).toMatchObject({ reason: 'provider_error', phrase, retryable: false })
      expect(Bun.inspect(thrown)).not.toContain('SECRET')
    })
  }
})

const CASES: readonly (readonly [name: string, content: string, answer: string])[] = [
  ['no block', 'plain answer', 'plain answer'],
  ['a leading block', '<think>hm</think>answer', 'answer'],
  ['an empty block and blank space', '\n <think>\n\n</think>\n\n answer \n', 'answer \n'],
  ['a block further on', 'so <think>hm</think> answer', 'so <think>hm</think> answer'],
  ['a second block', '<think>a</think>b<think>c</think>', 'b<think>c</think>'],
  ['a block that never closes', ' <think>hm, an answer', ' <think>hm, an answer'],
  ['the beginning of a tag', '<thi', '<thi'],
  ['another tag', '<thinking>hm</thinking>', '<thinking>hm</thinking>'],
  ['blank space only', ' \n', ' \n'],
  ['something like the end inside', '<think>a </thin b</think>c', 'c'],
]

describe('a leading think block', () => {
  for (const [name, content, answer] of CASES) {
    test(`a leading think block: ${name}`, () => {
      for (const step of [100, 1, 2, 3, 5]) {
        const filter = new ThinkFilter()
        let out = ''
        for (let at = 0; at < content.length; at += step) {
          out += filter.push(content.slice(at, at + step))
        }
        expect(out + filter.end()).toBe(answer)
      }
    })
  }

  test('blank space in many small pieces takes no longer than other text', () => {
    const filter = new ThinkFilter()
    const pieces = 100_000
    for (let i = 0; i < pieces; i++) filter.push(' ')
    expect(filter.push('x')).toHaveLength(pieces + 1)
  })

  test('the first piece of an ordinary answer is not held back', () => {
    const filter = new ThinkFilter()
    expect([filter.push('你'), filter.push('好')]).toEqual(['你', '好'])
  })
})
