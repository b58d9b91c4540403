import { describe, expect, test } from 'bun:test'
import { createResponseReader } from './response.ts'

/** Feeds the text in pieces of `size` bytes; `at` is the completing piece, -1 without one. */
function read(text: string, size: number) {
  const bytes = Buffer.from(text)
  let body = ''
  const reader = createResponseReader((piece) => {
    body += piece.toString()
  })
  for (let at = 0; at < bytes.length; at += size) {
    if (reader.feed(bytes.subarray(at, at + size))) return { body, status: reader.status(), at }
  }
  return { body, status: reader.status(), at: -1 }
}

const CHUNKED = [
  ['HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', ''],
  ['3', 'abc', '10', '0123456789abcdef', '0', '', ''],
]
  .flat()
  .join('\r\n')

describe('createResponseReader', () => {
  for (const size of [1, 2, 3, 7, 1_000]) {
    test(`the response reader reads chunks that come in pieces of ${size} bytes`, () => {
      const { body, status, at } = read(CHUNKED, size)
      expect({ body, status }).toEqual({ body: 'abc0123456789abcdef', status: 200 })
      expect(at).toBeGreaterThanOrEqual(0)
    })

    test(`the response reader reads a body of known length in pieces of ${size} bytes`, () => {
      const { body, status, at } = read(
        'HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nhello',
        size,
      )
      expect({ body, status }).toEqual({ body: 'hello', status: 404 })
      expect(at).toBeGreaterThanOrEqual(0)
    })
  }

  test('a response is not complete before its last chunk', () => {
    expect(read(CHUNKED.slice(0, -5), 4).at).toBe(-1)
  })
})
