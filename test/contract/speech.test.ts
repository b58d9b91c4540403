import { describe, expect, test } from 'bun:test'
import { createLogger } from '../../src/core/log.ts'
import { createVoice } from '../../src/features/voice/service.ts'
import { ChannelFailure } from '../../src/upstream/ports/failure.ts'
import type { Tts } from '../../src/upstream/ports/speech.ts'
import { mp3Frames } from '../support/mp3-frames.ts'
import { pcm16, tone } from '../support/recordings.ts'
import { codecs } from '../support/speech-codecs.ts'

const channels = (tts: Tts) => ({
  tts: { current: tts },
  hearing: { current: { asr: null, skipSilence: true } },
})

const lines: string[] = []
const log = createLogger({
  level: 'debug',
  json: true,
  now: () => new Date(),
  write: (line) => void lines.push(line),
})
const LONG = '这是一句不长不短的话，用来试验合成。'.repeat(120)
const { signal } = new AbortController()

type Speak = (index: number, signal: AbortSignal) => AsyncIterable<Uint8Array>

/** A synthesis whose calls are counted, with what happened in order. */
function createTts(speak: Speak, rates: readonly number[] = [32_000]) {
  const events: string[] = []
  let calls = 0
  const tts: Tts = {
    name: 'scripted',
    textCharsMax: 500,
    async speak(_request, callSignal) {
      const index = calls++
      events.push(`ask ${index}`)
      callSignal.addEventListener('abort', () => events.push(`abort ${index}`))
      return { rate: rates[index % rates.length] ?? 32_000, chunks: speak(index, callSignal) }
    },
  }
  return { events, voice: createVoice({ ...channels(tts), codecs, log }) }
}

async function* sound(seconds: number, rate = 32_000) {
  const bytes = pcm16(tone(rate, seconds))
  for (let at = 0; at < bytes.length; at += 999) yield bytes.subarray(at, at + 999)
}

const PCM = { format: 'pcm', rate: 32_000 } as const
const request = { text: LONG, voice: 'v', tenantId: 't' }

async function collect(pcm: AsyncIterable<Uint8Array>): Promise<number> {
  let size = 0
  for await (const chunk of pcm) size += chunk.length
  return size
}

test('speech asks for the next piece while one plays, and for no more', async () => {
  const { events, voice } = createTts(async function* (index) {
    events.push(`play ${index}`)
    yield* sound(0.1)
  })
  await collect(await voice.stream(request, PCM, signal))
  expect(events.slice(0, 7)).toEqual([
    'ask 0',
    'ask 1',
    'play 0',
    'ask 2',
    'play 1',
    'ask 3',
    'play 2',
  ])
})

test('speech joins pieces of different rates into one sound of the right length', async () => {
  const rates = [24_000, 22_050, 32_000]
  const { events, voice } = createTts((index) => sound(0.5, rates[index % 3]), rates)
  const bytes = await collect(await voice.stream(request, PCM, signal))
  const pieces = events.filter((event) => event.startsWith('ask')).length
  expect(Math.abs(bytes / 2 - pieces * 16_000)).toBeLessThan(pieces * 2)
})

test('speech encodes all pieces as one mp3', async () => {
  const { events, voice } = createTts(() => sound(0.25))
  const frames = mp3Frames(Buffer.concat(await voice.speak(request, signal)))
  const pieces = events.filter((event) => event.startsWith('ask')).length
  expect(pieces).toBeGreaterThan(3)
  expect(frames.length).toBeWithin((pieces * 8_000) / 1152, (pieces * 8_000) / 1152 + 4)
})

describe('a later piece that fails', () => {
  const failing: Speak = async function* (index) {
    yield* sound(0.1)
    if (index === 1) throw new ChannelFailure('provider_error', 'connection broken')
  }

  test('a later piece that fails ends the speech early, logged without its text', async () => {
    const { voice } = createTts(failing)
    let bytes = 0
    const heard = async () => {
      for await (const chunk of await voice.stream(request, PCM, signal)) bytes += chunk.length
    }
    await expect(heard()).rejects.toMatchObject({ status: 502 })
    expect(bytes).toBeWithin(1, 3 * 3_200 * 2)
    expect(lines.at(-1)).toContain('connection broken')
    expect(lines.join('')).not.toContain('试验')
  })

  test('a later piece that fails fails the whole mp3 and ends open requests', async () => {
    const { events, voice } = createTts(failing)
    await expect(voice.speak(request, signal)).rejects.toMatchObject({ status: 502 })
    expect(events).toContain('abort 2')
    expect(events).not.toContain('ask 3')
  })
})

test('leaving the speech stream ends the playing and the next request', async () => {
  const { events, voice } = createTts(() => sound(10))
  for await (const _ of await voice.stream(request, PCM, signal)) break
  expect(events).toEqual(['ask 0', 'ask 1', 'abort 0', 'abort 1'])
})

test('speech that never stops is cut after an hour of sound', async () => {
  const minute = new Uint8Array(60 * 64_000)
  const { voice } = createTts(async function* () {
    for (;;) yield minute
  })
  let bytes = 0
  const heard = async () => {
    const speech = await voice.stream({ ...request, text: 'x' }, PCM, signal)
    for await (const chunk of speech) bytes += chunk.length
  }
  await expect(heard()).rejects.toMatchObject({ status: 502 })
  expect(bytes).toBe(3_600 * 64_000)
}, 60_000)

test.each([
  ['no sound at all', async function* () {}],
  [
    'half a sample',
    async function* () {
      yield new Uint8Array(1)
    },
  ],
] as const)('%s is a failure before the first sound', async (_name, speak) => {
  const { voice } = createTts(speak)
  await expect(voice.stream({ ...request, text: 'x' }, PCM, signal)).rejects.toMatchObject({
    status: 502,
  })
})

describe('tenants share the speeches that are open at a time', () => {
  const ALL = 9
  const SHARES = { skipSilence: true, requestsMax: ALL }
  const from = (tenantId: string) => ({ text: '好', voice: 'v', tenantId })
  const drained = () => new Promise((resolve) => setImmediate(resolve))

  /** Speeches of two chunks, of which the second comes when it is read. */
  function sharing() {
    const begun: string[] = []
    const tts: Tts = {
      name: 'scripted',
      textCharsMax: 500,
      async speak({ tenantId }) {
        begun.push(tenantId)
        return { rate: 32_000, chunks: sound(0.1) }
      },
    }
    const voice = createVoice({ ...channels(tts), codecs, log, ...SHARES })
    return { begun, voice }
  }

  test('a tenant that is alone gets nearly all speech slots, another need not wait', async () => {
    const { begun, voice } = sharing()
    const open = Array.from({ length: ALL }, () => voice.stream(from('a'), PCM, signal))
    await Promise.all(open.slice(0, ALL - 1))
    await voice.stream(from('b'), PCM, signal)
    expect(begun).toEqual([...new Array(ALL - 1).fill('a'), 'b'])
    await collect(await (open[0] as Promise<AsyncGenerator<Uint8Array>>))
    await collect(await (open[1] as Promise<AsyncGenerator<Uint8Array>>))
    await open[ALL - 1]
    expect(begun).toEqual([...new Array(ALL - 1).fill('a'), 'b', 'a'])
  })

  test('a client that leaves, or never reads, gives its speech slot back', async () => {
    const { begun, voice } = sharing()
    const leaving = new AbortController()
    for (let i = 0; i < ALL - 1; i++) await voice.stream(from('a'), PCM, leaving.signal)
    const next = voice.stream(from('a'), PCM, signal)
    await drained()
    expect(begun).toHaveLength(ALL - 1)
    leaving.abort(new Error('client left'))
    await next
    expect(begun).toHaveLength(ALL)
  })

  test('a speech that fails to begin keeps no slot', async () => {
    const tts: Tts = {
      name: 'scripted',
      textCharsMax: 500,
      speak: async () => Promise.reject(new ChannelFailure('provider_error', 'not now')),
    }
    const voice = createVoice({ ...channels(tts), codecs, log, ...SHARES })
    for (let i = 0; i <= ALL; i++) {
      await expect(voice.stream(from('a'), PCM, signal)).rejects.toMatchObject({ status: 502 })
      await expect(voice.speak(from('a'), signal)).rejects.toMatchObject({ status: 502 })
    }
  })
})
