import { TTS_ENCODED_BYTES_MAX } from '../core/limits/upstream.ts'
import { ChannelFailure } from '../upstream/ports/failure.ts'
import { type AudioCodecs, type PcmStream, SPEECH_RATE } from '../upstream/ports/speech.ts'
import { toBytes } from './pcm.ts'
import { mp3FrameBytes, sniff } from './sniff.ts'
import { createWavReader, createWavSamples, RATE_MAX, RATE_MIN, type WavFormat } from './wav.ts'

const NOT_SOUND = /^(text\/|application\/(json|problem|xml))/
const COMPRESSED = /^(audio|video|application)\/(x-)?(mpeg|mp3|flac|ogg|opus|aac|mp4|m4a|webm)\b/
/** Two frames of any usual mp3 fit in. */
const MP3_PROBE_BYTES = 3_000

type Decode = AudioCodecs['decode']

/** Implements `AudioCodecs.readSpeech`. */
export function createReadSpeech(decode: Decode): AudioCodecs['readSpeech'] {
  return async ({ body, contentType, fallbackRate, tenantId }, signal) => {
    const type = contentType.trim().toLowerCase()
    if (NOT_SOUND.test(type)) throw unusable('not audio')
    const iterator = body[Symbol.asyncIterator]()
    const head = await readHead(iterator)
    if (head.length === 0) throw unusable('empty audio')
    const chunks = resume(head, iterator)
    if (sniff(head)?.name === 'wav') return readWav(chunks)
    if (COMPRESSED.test(type) || isCompressed(head)) {
      const bytes = await readWhole(chunks)
      return readCompressed(decode({ bytes, tenantId }, SPEECH_RATE, signal))
    }
    return { rate: checked(rateOf(type) ?? fallbackRate), chunks }
  }
}

function unusable(phrase: string, cause?: unknown): ChannelFailure {
  return new ChannelFailure('provider_error', phrase, { cause })
}

function rateOf(contentType: string): number | null {
  const found = /;\s*rate="?(\d{1,6})/.exec(contentType)?.[1]
  return found === undefined ? null : Number(found)
}

function checked(rate: number): number {
  if (rate < RATE_MIN || rate > RATE_MAX) throw unusable('unusable sample rate')
  return rate
}

/** Reads the first 12 bytes, or more when they may be an mp3 without a tag. */
async function readHead(iterator: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  let head: Uint8Array = new Uint8Array(0)
  for (;;) {
    const wanted = sniff(head)?.name === 'mp3' ? MP3_PROBE_BYTES : 12
    if (head.length >= wanted) return head
    const next = await iterator.next()
    if (next.done) return head
    head = Buffer.concat([head, next.value])
  }
}

async function* resume(
  head: Uint8Array,
  iterator: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield head
    for (;;) {
      const next = await iterator.next()
      if (next.done) return
      yield next.value
    }
  } finally {
    await iterator.return?.()
  }
}

/** Raw samples may begin like an mp3 frame by chance, but not with two frames in a row. */
function isCompressed(head: Uint8Array): boolean {
  const name = sniff(head)?.name
  if (name === undefined || name === 'aac') return false
  if (name !== 'mp3' || head[0] === 0x49) return true
  const next = mp3FrameBytes(head)
  return sniff(head.subarray(next))?.name === 'mp3' && head[next + 1] === head[1]
}

async function readWav(chunks: AsyncGenerator<Uint8Array>): Promise<PcmStream> {
  const reader = createWavReader()
  let format: WavFormat | null = null
  let first: Uint8Array = new Uint8Array(0)
  try {
    while (format === null) {
      const next = await chunks.next()
      if (next.done) throw unusable('empty audio')
      first = reader.push(next.value)
      format = reader.format()
    }
  } catch (error) {
    throw error instanceof ChannelFailure ? error : unusable('unreadable audio', error)
  }
  const toSamples = createWavSamples(format)
  async function* samples(): AsyncGenerator<Uint8Array> {
    yield toBytes(toSamples(first))
    for await (const chunk of chunks) yield toBytes(toSamples(reader.push(chunk)))
  }
  return { rate: format.rate, chunks: samples() }
}

/** Some servers always answer mp3. It is collected and decoded as a whole by a parse worker. */
async function readWhole(chunks: AsyncGenerator<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > TTS_ENCODED_BYTES_MAX) throw unusable('too much audio')
    parts.push(chunk)
  }
  return Buffer.concat(parts)
}

async function readCompressed(pcm: AsyncGenerator<Uint8Array>): Promise<PcmStream> {
  const first = await pcm.next()
  if (first.done) throw unusable('empty audio')
  return { rate: SPEECH_RATE, chunks: resume(first.value, pcm) }
}
