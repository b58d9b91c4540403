import { expect, test } from 'bun:test'
import { flac } from '../../test/support/flac.ts'
import { mp3, opus, tone, wav } from '../../test/support/recordings.ts'
import { isRecording } from './recording.ts'

const sound = tone(48_000, 0.1)
const bytes = (start: string) => Buffer.concat([Buffer.from(start, 'latin1'), Buffer.alloc(64)])

test.each([
  ['wav', () => wav(48_000, sound)],
  ['mp3', () => mp3(48_000, sound)],
  ['FLAC', () => flac(sound)],
  ['Ogg', () => opus('ogg', sound)],
  ['WebM', () => opus('webm', sound)],
  ['MP4', () => bytes('\0\0\0\x20ftypM4A ')],
  ['bare samples', () => Buffer.from(sound.buffer)],
  ['bare silence', () => Buffer.alloc(2_000)],
] as const)('a recogniser is asked about %s', async (_name, make) => {
  expect(isRecording(await make())).toBe(true)
})

test.each([
  ['AIFF', bytes('FORM\0\0\x10\0AIFFCOMM')],
  ['AIFF-C', bytes('FORM\0\0\x10\0AIFCFVER')],
  ['CAF', bytes('caff\0\x01\0\0desc')],
  ['AC-3', bytes('\x0bw\x12\x34')],
  ['WMA', bytes('0&\xb2u\x8ef\xcf\x11\xa6\xd9\0\xaa')],
  ['Wave64', bytes('riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb')],
  ['AU', bytes('.snd\0\0\0\x18')],
  ['a video', bytes('RIFF\0\0\0\0AVI LIST')],
  ['a PDF', bytes('%PDF-1.7')],
  ['a picture', bytes('\xff\xd8\xff\xe0')],
  ['text', Buffer.from('not a recording at all\n')],
  ['Chinese text', Buffer.from('这不是录音。'.repeat(100))],
  ['Chinese text in GB 18030', Buffer.from('d5e2b2bbcac7c2bcd2f4a1a3', 'hex')],
  ['text in UTF-16', Buffer.from('feff4f60597d', 'hex')],
  ['a web page', Buffer.from('<!doctype html>\r\n<p>404')],
] as const)('%s is refused', (_name, file) => {
  expect(isRecording(file)).toBe(false)
})

test('a wav file that is a header alone is refused, however it announces its samples', async () => {
  const whole = Buffer.from(await wav(48_000, sound))
  const header = whole.subarray(0, whole.indexOf('data') + 8)
  expect(isRecording(header)).toBe(false)
  expect(isRecording(header.subarray(0, 20))).toBe(false)
  expect(isRecording(Buffer.concat([header, Buffer.alloc(2)]))).toBe(true)
  const unknown = Buffer.from(header)
  unknown.writeUInt32LE(0xffffffff, header.length - 4)
  expect(isRecording(unknown)).toBe(false)
})
