import { expect, test } from 'bun:test'
import { fakeClock } from '../../test/support/clock.ts'
import type { SpeechFormat } from '../upstream/ports/speech.ts'
import { createEncode } from './encode.ts'

const RATE = 24_000
const sound = () => new Uint8Array(RATE * 2)
const PRODUCT = new URL('encode-worker.ts', import.meta.url).href
/** Answers each piece of sound with it; a second of silence ends the thread without a word. */
const QUIET = URL.createObjectURL(
  new Blob([
    `onmessage = ({ data: { type, id, pcm } }) => {
      if (type === 'open' || type === 'close') return
      postMessage({ id, bytes: pcm ?? new Uint8Array(1) })
      if (pcm?.[0] === 1) setTimeout(() => process.exit(0), 0)
    }`,
  ]),
)

const encoding = (encoderUrl: string) =>
  createEncode({ clock: fakeClock(), encoderUrl, threads: 1 })

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<number> {
  let bytes = 0
  for await (const chunk of chunks) bytes += chunk.length
  return bytes
}

test('a speech between two sounds fails when its thread ends quietly, twice', async () => {
  const encoder = encoding(QUIET)
  for (let time = 1; time <= 2; time++) {
    const waits = encoder('mp3', RATE)
    expect(await bytesOf(waits.encode(sound(), RATE))).toBe(RATE * 2)
    const last = encoder('mp3', RATE)
    await bytesOf(last.encode(sound().fill(1), RATE))
    // Whether or not the end of the thread is known by now.
    const ended = (async () => {
      for (;;) await bytesOf(waits.encode(sound(), RATE))
    })()
    await expect(ended).rejects.toThrow('speech cannot be encoded')
    await expect(bytesOf(waits.finish())).rejects.toThrow('speech cannot be encoded')
    waits.close()
    last.close()
  }
})

test('a speech whose encoder cannot be made fails alone', async () => {
  const encoder = encoding(PRODUCT)
  const good = encoder('mp3', RATE)
  await bytesOf(good.encode(sound(), RATE))
  const bad = encoder('no such format' as SpeechFormat, RATE)
  for (let time = 1; time <= 3; time++) {
    expect(await bytesOf(good.encode(sound(), RATE))).toBeGreaterThan(0)
  }
  const fault = await bytesOf(bad.finish()).catch((error: Error) => error.message)
  expect(fault).toBe('speech cannot be encoded')
  expect(await bytesOf(good.finish())).toBeGreaterThan(0)
  good.close()
  bad.close()
})
