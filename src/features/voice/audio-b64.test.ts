import { describe, expect, test } from 'bun:test'
import { AUDIO_BYTES_MAX } from '../../core/limits/contract.ts'
import { base64Pieces, decodeAudio } from './audio-b64.ts'

test.each([[[]], [[1]], [[2]], [[3]], [[1, 1]], [[4, 0, 5, 3, 2]], [[1_000, 1_001, 1_002]]])(
  'parts of %j bytes are encoded as one',
  (sizes) => {
    const parts = sizes.map((size) => crypto.getRandomValues(new Uint8Array(size)))
    expect([...base64Pieces(parts)].join('')).toBe(Buffer.concat(parts).toString('base64'))
  },
)

test.each([
  ['plain', 'QUJD'],
  ['line breaks', 'QU\r\nJD\n'],
  ['blanks and tabs', ' Q U\tJ D '],
])('base64 audio is decoded: %s', (_name, text) => {
  expect(Buffer.from(decodeAudio(text)).toString()).toBe('ABC')
})

test('base64 audio with padding is decoded', () => {
  expect(Buffer.from(decodeAudio('QUI=')).toString()).toBe('AB')
  expect(Buffer.from(decodeAudio('QQ = =')).toString()).toBe('A')
})

test.each([
  ['the URL alphabet', '-_-_'],
  ['missing padding', 'QUI'],
  ['padding inside', 'QQ==QUJD'],
  ['too much padding', 'QUJD='],
  ['a data URL', 'data:audio/wav;base64,QUJD'],
  ['other signs', 'QU!D'],
  ['Chinese', '你好啊啊'],
  ['a no-break space', 'QU\u00a0JD'],
  ['nothing', ''],
  ['white space alone', ' \n '],
])('base64 audio with %s is refused with 400', (_name, text) => {
  expect(() => decodeAudio(text)).toThrow(expect.objectContaining({ status: 400 }))
})

describe('the limit of 25 MB', () => {
  const exact = Buffer.alloc(AUDIO_BYTES_MAX, 1).toString('base64')

  test('the limit of 25 MB applies to the decoded bytes, not to white space', () => {
    expect(decodeAudio(exact).length).toBe(AUDIO_BYTES_MAX)
    expect(decodeAudio(exact.replace(/.{76}/g, '$&\r\n')).length).toBe(AUDIO_BYTES_MAX)
  })

  test('base64 audio of one byte over the limit is refused with 413', () => {
    const more = Buffer.alloc(AUDIO_BYTES_MAX + 1, 1).toString('base64')
    expect(() => decodeAudio(more)).toThrow(expect.objectContaining({ status: 413 }))
    expect(() => decodeAudio(`${more}\n`)).toThrow(expect.objectContaining({ status: 413 }))
  })
})
