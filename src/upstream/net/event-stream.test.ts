import { describe, expect, test } from 'bun:test'
import { ChannelFailure } from '../ports/failure.ts'
import { EventStream } from './event-stream.ts'

/** Events of `text`, fed `step` bytes at a time. */
function decode(text: string, step = Number.POSITIVE_INFINITY): string[] {
  const stream = new EventStream()
  const bytes = new TextEncoder().encode(text)
  const events: string[] = []
  for (let at = 0; at < bytes.length; at += step) {
    stream.push(bytes.subarray(at, at + step), events)
  }
  return events
}

const CASES: readonly (readonly [name: string, stream: string, events: readonly string[]])[] = [
  ['one event', 'data: a\n\n', ['a']],
  ['several events in one read', 'data: a\n\ndata: b\n\ndata: c\n\n', ['a', 'b', 'c']],
  ['CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n', ['a', 'b']],
  ['CR alone', 'data: a\r\rdata: b\r\r', ['a', 'b']],
  ['mixed line ends', 'data: a\r\n\ndata: b\n\r\ndata: c\r\r\n', ['a', 'b', 'c']],
  ['lines of one event are joined', 'data: a\ndata: b\n\n', ['a\nb']],
  ['lines of one event, CRLF', 'data: a\r\ndata: b\r\n\r\n', ['a\nb']],
  ['comments', ': ping\n\ndata: a\n: more\n\n:\n\n', ['a']],
  ['other fields', 'event: x\nid: 1\nretry: 5\ndata: a\n\nevent: y\n\n', ['a']],
  ['at most one space is dropped', 'data:a\n\ndata:  b\n\n', ['a', ' b']],
  ['empty data', 'data\n\ndata:\n\ndata: \n\n', ['', '', '']],
  ['a field that only begins like data', 'database: a\ndata2: b\n\n', []],
  ['byte order mark', '\uFEFFdata: a\n\n', ['a']],
  ['characters of every width', 'data: é你𝄞👨‍👩‍👧\n\n', ['é你𝄞👨‍👩‍👧']],
  ['blank lines', '\n\n\ndata: a\n\n\n\n', ['a']],
  ['an event without its end', 'data: a\n\ndata: b\n', ['a']],
]

describe('an event stream', () => {
  for (const [name, stream, events] of CASES) {
    test(`an event stream is decoded in reads of any size: ${name}`, () => {
      for (const step of [Number.POSITIVE_INFINITY, 1, 2, 3, 7]) {
        expect(decode(stream, step)).toEqual([...events])
      }
    })
  }

  test('an event leaves with the read that completes it', () => {
    const stream = new EventStream()
    const reads = ['data: a\n', '\nda', 'ta: b\r', '\n\r', '\n']
    const seen = reads.map((read) => {
      const events: string[] = []
      stream.push(new TextEncoder().encode(read), events)
      return events
    })
    expect(seen).toEqual([[], ['a'], [], ['b'], []])
  })

  test('an event stream does not keep the buffer of a read', () => {
    const stream = new EventStream()
    const events: string[] = []
    const buffer = new TextEncoder().encode('data: first')
    stream.push(buffer, events)
    buffer.fill(120)
    stream.push(new TextEncoder().encode('\n\n'), events)
    expect(events).toEqual(['first'])
  })

  test('the last event counts without its closing blank line', () => {
    for (const [rest, event] of [
      ['data: a', 'a'],
      ['data: a\r', 'a'],
      ['data: a\n\n', null],
      [': a', null],
    ] as const) {
      const stream = new EventStream()
      stream.push(new TextEncoder().encode(rest), [])
      expect(stream.end()).toBe(event)
    }
  })

  const tooLarge: readonly (readonly [string, string])[] = [
    ['a line without end', `data: ${'x'.repeat(2000)}`],
    ['one line', `data: ${'x'.repeat(2000)}\n\n`],
    ['many lines of one event', `data: ${'x'.repeat(99)}\n`.repeat(20)],
  ]
  for (const [name, text] of tooLarge) {
    test(`an event stream fails over the limit: ${name}`, () => {
      for (const step of [2500, 10]) {
        const stream = new EventStream(1000)
        const feed = () => {
          const bytes = new TextEncoder().encode(text)
          for (let at = 0; at < bytes.length; at += step) {
            stream.push(bytes.subarray(at, at + step), [])
          }
        }
        expect(feed).toThrow(ChannelFailure)
      }
    })
  }

  const reads: readonly (readonly [name: string, reads: readonly string[], ended: boolean])[] = [
    ['an event', ['data: a\n\n'], true],
    ['an event whose blank line comes apart', ['data: a\n', '\n'], true],
    ['an event and the start of the next', ['data: a\n\ndata: b'], true],
    ['a comment', [': ping\n'], true],
    ['the end of a comment', [': pi', 'ng\r'], true],
    ['a blank line', ['\n', '\n'], true],
    ['an event without data', ['event: ping\r\n\r\n'], true],
    ['more of a line', ['data: a', 'b'], false],
    ['the end of a line of data', ['data: a', '\n'], false],
    ['the second half of a line end', ['data: a\r', '\n'], false],
    ['more lines of one event', ['data: a\n', 'data: b\n'], false],
    ['more of a comment', [': a', 'b'], false],
    ['more of a line that is no field', ['x', 'y'], false],
  ]
  test.each(reads)(
    'an event stream reports whether a read ends an event: %s',
    (_, texts, ended) => {
      const stream = new EventStream()
      for (const text of texts) stream.push(new TextEncoder().encode(text), [])
      expect(stream.ended).toBe(ended)
    },
  )

  test.each([
    ['a line', ['data: ', 'x'.repeat(900)]],
    ['a line that has ended', ['data: ', 'x'.repeat(900), '\n']],
    ['lines of one event', Array.from({ length: 9 }, () => `data: ${'x'.repeat(100)}\n`)],
    ['an event after another', ['data: a\n\ndata: ', 'x'.repeat(900)]],
    ['a line in one-byte reads', ['data: ', ...'x'.repeat(900)]],
  ])('an event stream counts the bytes held of %s until the event is whole', (_, texts) => {
    const stream = new EventStream()
    for (const text of texts) stream.push(new TextEncoder().encode(text), [])
    expect(stream.heldBytes).toBeGreaterThanOrEqual(2 * 900)
    stream.push(new TextEncoder().encode('\n\n'), [])
    expect(stream.heldBytes).toBe(0)
  })

  test('the limit of an event stream is for each event, not for the stream', () => {
    const stream = new EventStream(1000)
    const events: string[] = []
    for (let n = 0; n < 100; n++) {
      stream.push(new TextEncoder().encode(`data: ${'x'.repeat(900)}\n\n`), events)
    }
    expect(events).toHaveLength(100)
  })
})
