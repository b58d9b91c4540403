import { expect, test } from 'bun:test'
import { ArchiveError, decryptArchive, encryptArchive } from './archive.ts'

const PASSPHRASE = 'correct horse battery staple'
const HEADER = 28
const CHUNK = 64 * 1024 + 16

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
}

async function collect(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(pieces))
}

/** A guess is cheap here, so that the tests are quick. */
const CHEAP = { log2N: 4, r: 8, p: 1 }
const encrypt = (bytes: Uint8Array, passphrase = PASSPHRASE) =>
  collect(encryptArchive(inPieces(bytes, 7_001), passphrase, CHEAP))

/** Text of what it decrypts to, or the fault. */
async function decrypt(sealed: Uint8Array, passphrase = PASSPHRASE): Promise<Buffer | string> {
  try {
    return await collect(decryptArchive(inPieces(sealed, 9_999), passphrase))
  } catch (error) {
    if (error instanceof ArchiveError) return error.fault
    throw error
  }
}

/** Three chunks, each unlike the others. */
const PLAIN = Buffer.from(Array.from({ length: 150_000 }, (_, at) => (at * at) >> 7))
const sealed = await encrypt(PLAIN)

test.each([[0], [1], [64 * 1024], [64 * 1024 + 1]])(
  '%d bytes come out of an archive as they went in',
  async (length) => {
    const bytes = PLAIN.subarray(0, length)
    expect(await decrypt(await encrypt(bytes))).toEqual(bytes)
  },
)

test('a long text survives an encrypted archive, which does not reveal it', async () => {
  expect(await decrypt(sealed)).toEqual(PLAIN)
  expect(sealed.length).toBe(HEADER + PLAIN.length + 3 * 16)
  expect((await encrypt(PLAIN)).equals(sealed)).toBe(false)
})

test('an archive opens with its passphrase only, however its letters are composed', async () => {
  expect(await decrypt(sealed, `${PASSPHRASE} `)).toBe('passphrase')
  const composed = await encrypt(PLAIN, 'caf\u00e9')
  expect(await decrypt(composed, 'cafe\u0301')).toEqual(PLAIN)
})

const swapped = () => {
  const [first, second] = [HEADER, HEADER + CHUNK]
  const head = sealed.subarray(0, HEADER)
  const one = sealed.subarray(first, first + CHUNK)
  const two = sealed.subarray(second, second + CHUNK)
  return Buffer.concat([head, two, one, sealed.subarray(second + CHUNK)])
}
const flipped = (at: number) => {
  const copy = Buffer.from(sealed)
  copy[at] = (copy[at] ?? 0) ^ 1
  return copy
}

test.each([
  ['is empty', Buffer.alloc(0), 'foreign'],
  ['is another file', Buffer.from('SQLite format 3\0'.repeat(9)), 'foreign'],
  ['is of a later version', flipped(8), 'newer'],
  ['asks for terabytes to derive its key', Buffer.from(sealed).fill(0xff, 9, 10), 'damaged'],
  ['has another salt', flipped(20), 'passphrase'],
  ['has a changed bit in its second chunk', flipped(HEADER + CHUNK + 5), 'damaged'],
  ['has two chunks in each other\u2019s place', swapped(), 'passphrase'],
  ['ends after its first chunk', sealed.subarray(0, HEADER + CHUNK), 'passphrase'],
  ['ends after its second chunk', sealed.subarray(0, HEADER + 2 * CHUNK), 'damaged'],
  ['ends in the middle of a tag', sealed.subarray(0, -5), 'damaged'],
  ['has bytes behind its end', Buffer.concat([sealed, Buffer.alloc(9)]), 'damaged'],
])('an archive that %s is refused', async (_, bytes, fault) => {
  expect(await decrypt(bytes)).toBe(fault)
})
