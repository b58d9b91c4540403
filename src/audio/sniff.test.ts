import { expect, test } from 'bun:test'
import { flac } from '../../test/support/flac.ts'
import { mp3, opus, tone, vorbis, wav } from '../../test/support/recordings.ts'
import { sniff } from './sniff.ts'

const sound = tone(48_000, 0.1)

test.each([
  ['wav', 'wav', 'audio/wav', () => wav(48_000, sound)],
  ['mp3', 'mp3', 'audio/mpeg', () => mp3(48_000, sound)],
  ['mp3', 'mp3', 'audio/mpeg', () => Buffer.from('ID3\x04\0\0\0')],
  ['flac', 'flac', 'audio/flac', () => flac(sound)],
  ['opus', 'ogg', 'audio/ogg', () => opus('ogg', sound)],
  ['vorbis', 'ogg', 'audio/ogg', () => vorbis(48_000, sound)],
  ['webm', 'webm', 'audio/webm', () => opus('webm', sound)],
  ['m4a', 'm4a', 'audio/mp4', () => Buffer.from('\0\0\0\x20ftypM4A \0\0\0\0')],
  ['aac', 'aac', 'audio/aac', () => Buffer.from([0xff, 0xf1, 0x50, 0x80])],
  ['amr', 'amr', 'audio/amr', () => Buffer.from('#!AMR\n')],
] as const)('%s is told by its first bytes', async (name, extension, mime, make) => {
  expect(sniff(await make())).toEqual({ name, extension, mime })
})

test.each([
  ['nothing', Buffer.alloc(0)],
  ['one byte', Buffer.from([0xff])],
  ['text', Buffer.from('你好')],
  ['a picture', Buffer.from([0xff, 0xd8, 0xff, 0xe0])],
  ['RIFF that is no wave', Buffer.from('RIFF\0\0\0\0AVI LIST')],
  ['zeros', Buffer.alloc(64)],
  ['an impossible mp3 header', Buffer.from([0xff, 0xfb, 0xf0, 0])],
])('%s is not recognised as a recording', (_name, bytes) => {
  expect(sniff(bytes)).toBeNull()
})
