import { describe, expect, test } from 'bun:test'
import { CLOSING, OPENING, tokenChunk } from './chunks.ts'
import { createScanner } from './scanner.ts'

describe('createScanner', () => {
  test('the scanner counts each token once, however the stream is cut', () => {
    const stream = Buffer.concat([OPENING, tokenChunk(), tokenChunk(), tokenChunk(), CLOSING])
    for (const size of [1, 5, 64, stream.length]) {
      const ages: number[] = []
      const scanner = createScanner('openai', ages)
      for (let at = 0; at < stream.length; at += size) scanner.feed(stream.subarray(at, at + size))
      expect({ tokens: scanner.tokens, ended: scanner.ended }).toEqual({ tokens: 3, ended: true })
      expect(scanner.firstAt).toBeGreaterThan(0)
      expect(ages).toHaveLength(3)
      for (const age of ages) expect(age).toBeWithin(0, 10_000)
    }
  })

  test('the scanner does not count the reply at the end of a turn', () => {
    const scanner = createScanner('agent', null)
    scanner.feed(Buffer.from('data: {"type":"llm_delta","text":"tkn "}\n\n'))
    expect(scanner.ended).toBe(false)
    scanner.feed(Buffer.from('data: {"type":"llm_end","reply":"tkn tkn "}\n\n'))
    expect({ tokens: scanner.tokens, ended: scanner.ended }).toEqual({ tokens: 1, ended: true })
  })
})
