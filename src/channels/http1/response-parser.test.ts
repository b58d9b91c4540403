import { describe, expect, test } from 'bun:test'
import { ResponseParser } from './response-parser.ts'

/** What a response turned out to be, or the word of what was wrong with it. */
function parse(pieces: readonly string[], closed = false) {
  const seen = { status: 0, type: null as string | null, body: '', end: null as boolean | null }
  const parser = new ResponseParser({
    head({ status, headers }) {
      seen.status = status
      seen.type = headers.get('content-type')
    },
    body: (bytes) => {
      seen.body += Buffer.from(bytes).toString('latin1')
    },
    end: (reusable) => {
      seen.end = reusable
    },
  })
  try {
    for (const piece of pieces) parser.push(Buffer.from(piece, 'latin1'))
    if (closed) parser.close()
  } catch (error) {
    return { ...seen, fault: error instanceof Error ? error.message : 'no error' }
  }
  return { ...seen, fault: null }
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n'
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`
const whole = { status: 200, type: 'text/plain', end: true, fault: null }

describe('the end of a body', () => {
  const cases: [string, string, string][] = [
    ['a length', `${OK}Content-Length: 5\r\n\r\nhello`, 'hello'],
    ['the same length twice', `${OK}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello`, 'hello'],
    ['no bytes at all', `${OK}Content-Length: 0\r\n\r\n`, ''],
    [
      'pieces',
      `${CHUNKED}5\r\nhello\r\n1\r\n \r\n0A\r\nworld\r\n\r\n!\r\n0\r\n\r\n`,
      'hello world\r\n\r\n!',
    ],
    ['pieces with extensions', `${CHUNKED}5;a="b"\r\nhello\r\n0;x\r\n\r\n`, 'hello'],
    ['pieces with leading zeros', `${CHUNKED}00000005\r\nhello\r\n00\r\n\r\n`, 'hello'],
    ['pieces and trailers', `${CHUNKED}5\r\nhello\r\n0\r\nA: b\r\nC: d\r\n\r\n`, 'hello'],
    ['lines that end in LF alone', `${CHUNKED.replaceAll('\r', '')}5\nhello\n0\n\n`, 'hello'],
    [
      'another head first',
      `HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${OK}Content-Length: 2\r\n\r\nhi`,
      'hi',
    ],
    ['a status without a reason', `${OK.replace(' OK', '')}Content-Length: 2\r\n\r\nhi`, 'hi'],
  ]
  for (const [name, text, body] of cases) {
    test(`${name}, however the bytes are cut`, () => {
      expect(parse([text])).toEqual({ ...whole, body })
      expect(parse([...text])).toEqual({ ...whole, body })
      for (let at = 1; at < text.length; at += 1) {
        expect(parse([text.slice(0, at), text.slice(at)])).toEqual({ ...whole, body })
      }
    })
  }

  test('the end of the connection, after which there is no other', () => {
    expect(parse([`${OK}\r\nhel`, 'lo'], true)).toEqual({ ...whole, body: 'hello', end: false })
  })

  test('no body by its status, whatever the headers say', () => {
    for (const status of [204, 304]) {
      const text = `HTTP/1.1 ${status} x\r\nContent-Length: 5\r\n\r\n`
      expect(parse([text])).toMatchObject({ status, body: '', end: true, fault: null })
    }
  })
})

test('a large piece', () => {
  const body = 'x'.repeat(0x1000000)
  const { fault, body: read } = parse([`${CHUNKED}1000000\r\n`, body, '\r\n0\r\n\r\n'])
  expect([fault, read.length]).toEqual([null, body.length])
})

describe('a connection is not used again', () => {
  const cases: [string, string][] = [
    ['when it is to be closed', `${OK}Connection: Close\r\nContent-Length: 2\r\n\r\nhi`],
    [
      'when that is one of several words',
      `${OK}Connection: x, close\r\nContent-Length: 2\r\n\r\nhi`,
    ],
    ['after HTTP/1.0', `${OK.replace('1.1', '1.0')}Content-Length: 2\r\n\r\nhi`],
    [
      'when there are two lengths',
      `${OK}Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`,
    ],
  ]
  for (const [name, text] of cases) {
    test(name, () => expect(parse([text])).toEqual({ ...whole, body: 'hi', end: false }))
  }

  test('when more came than was asked for', () => {
    const answer = `${OK}Content-Length: 2\r\n\r\nhi`
    const surplus = { ...whole, body: 'hi', end: false, fault: 'bytes after the response' }
    expect(parse([`${answer}HTTP/1.1 200 OK\r\n`])).toEqual(surplus)
    expect(parse([answer, 'x'])).toEqual({ ...surplus, end: true })
  })
})

describe('what is not clear is refused', () => {
  const head = 'malformed response head'
  const cases: [string, string, string][] = [
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n\r\n', head],
    ['another version', 'HTTP/2 200\r\n\r\n', head],
    ['no status', 'HTTP/1.1 OK\r\n\r\n', head],
    ['a field without a colon', `${OK}Oops\r\n\r\n`, head],
    ['a field without a name', `${OK}: x\r\n\r\n`, head],
    ['a blank before the colon', `${OK}Content-Length : 5\r\n\r\nhello`, head],
    ['a folded field', `${OK}A: b\r\n c\r\n\r\n`, head],
    ['a lone CR', `${OK}A: b\rC: d\r\n\r\n`, head],
    ['a NUL', `${OK}A: b\0\r\n\r\n`, head],
    ['an upgrade', 'HTTP/1.1 101 Switching\r\n\r\n', 'upgrade that was not asked for'],
    ['a length that is none', `${OK}Content-Length: 5x\r\n\r\nhello`, 'malformed content length'],
    ['a length below zero', `${OK}Content-Length: -5\r\n\r\nhello`, 'malformed content length'],
    [
      'two different lengths',
      `${OK}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`,
      'malformed content length',
    ],
    [
      'a coding besides chunked',
      `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n`,
      'unknown transfer coding',
    ],
    ['a size that is none', `${CHUNKED}zz\r\nhello\r\n`, 'malformed chunk size'],
    ['no size', `${CHUNKED}\r\nhello\r\n`, 'malformed chunk size'],
    ['a size with a sign', `${CHUNKED}+5\r\nhello\r\n`, 'malformed chunk size'],
    ['a size beyond numbers', `${CHUNKED}fffffffffffffff\r\n`, 'malformed chunk size'],
    ['a piece longer than its size', `${CHUNKED}5\r\nhello!\r\n0\r\n\r\n`, 'malformed chunk'],
  ]
  for (const [name, text, fault] of cases) {
    test(name, () => {
      expect(parse([text]).fault).toBe(fault)
      expect(parse([...text]).fault).toBe(fault)
    })
  }

  test('heads, lines and trailers without end', () => {
    const kilobyte = 'x'.repeat(1024)
    const flood = Array.from({ length: 65 }, () => kilobyte)
    expect(parse([`${OK}A: `, ...flood]).fault).toBe('response head too large')
    expect(parse([`${OK}A: ${kilobyte.repeat(80)}\r\n\r\n`]).fault).toBe('response head too large')
    expect(parse([`${CHUNKED}1;`, ...flood]).fault).toBe('too much between two pieces')
    const trailers = flood.map((text) => `A: ${text}\r\n`)
    expect(parse([`${CHUNKED}0\r\n`, ...trailers]).fault).toBe('too much between two pieces')
  })
})

test('a response that is cut is not taken for a whole one', () => {
  const texts = [`${OK}Content-Length: 5\r\n\r\nhello`, `${CHUNKED}5\r\nhello\r\n0\r\n\r\n`]
  for (const text of texts) {
    for (let at = 0; at < text.length; at += 1) {
      const { end, fault } = parse([text.slice(0, at)], true)
      expect([end, fault]).toEqual([null, 'connection closed in the middle'])
    }
  }
})
