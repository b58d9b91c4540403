import { expect, test } from 'bun:test'
import { joinBytes, jsonPieces, streamOf } from './large-bytes.ts'

const MB = 1024 * 1024

/** How often other events pass while `work` goes on. */
async function turnsDuring<Result>(work: () => Promise<Result>) {
  let turns = 0
  let goesOn = true
  const turn = () => {
    turns += 1
    if (goesOn) setImmediate(turn)
  }
  setImmediate(turn)
  const result = await work()
  goesOn = false
  return { turns, result }
}

const noise = (length: number) =>
  Uint8Array.from({ length }, (_, at) => (at * 31 + (at >> 8)) % 251)

test.each([
  ['none', []],
  ['a few bytes', [noise(3), noise(0), noise(5)]],
  ['one large chunk', [noise(5 * MB + 1)]],
  ['many chunks', Array.from({ length: 90 }, (_, at) => noise(64 * 1024 + at))],
])('joins %s as Buffer.concat does', async (_name, chunks) => {
  expect(Buffer.compare(await joinBytes(chunks), Buffer.concat(chunks))).toBe(0)
})

test.each([
  ['one chunk', [new Uint8Array(40 * MB)]],
  ['many chunks', Array.from({ length: 640 }, () => new Uint8Array(64 * 1024))],
])('other events pass while 40 MB in %s are joined', async (_name, chunks) => {
  expect((await turnsDuring(() => joinBytes(chunks))).turns).toBeGreaterThanOrEqual(19)
})

test.each([
  ['nothing', {}],
  [
    'lists and values',
    { a: [], b: {}, c: [1, null, true, 'x', [undefined]], d: undefined, e: -0.5 },
  ],
  ['escapes', { 'a"\n': `"\\\n\u2028${'\u0001'.repeat(200_000)}` }],
  ['pairs of surrogates at every cut', { a: `x${'😀'.repeat(200_000)}`, b: '😀'.repeat(200_000) }],
  ['a lone surrogate', [`${'a'.repeat(100_000)}\ud83d`]],
])('JSON of %s means the same in pieces', async (_name, value) => {
  const text = Buffer.concat(await jsonPieces(value)).toString()
  expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
})

test('other events pass while JSON of 40 MB is written', async () => {
  const body = { images: ['a', 'b', 'c'].map((sign) => sign.repeat((40 * MB) / 3)) }
  const { turns, result } = await turnsDuring(() => jsonPieces(body))
  expect(turns).toBeGreaterThanOrEqual(19)
  expect(Buffer.concat(result).toString()).toBe(JSON.stringify(body))
})

test('other events pass between the pieces of a stream', async () => {
  const pieces = Array.from({ length: 20 }, () => noise(1_000))
  const { turns, result } = await turnsDuring(() => new Response(streamOf(pieces)).bytes())
  expect(turns).toBeGreaterThanOrEqual(19)
  expect(Buffer.compare(result, Buffer.concat(pieces))).toBe(0)
})
