import { describe, expect, test } from 'bun:test'
import { createWyomingAsr } from '../../src/channels/wyoming/asr.ts'
import { createWyomingTts } from '../../src/channels/wyoming/tts.ts'
import { mp3, pcm16, tone, wav } from '../support/recordings.ts'
import { codecs, listen, patientClock } from '../support/speech-codecs.ts'
import { frame, type Reply, startWyoming } from '../support/upstream-wyoming.ts'

const sound = Buffer.from(pcm16(tone(22_050, 0.3)))
const FORMAT = { rate: 22_050, width: 2, channels: 1 }
const { signal } = new AbortController()

/** Speaks in writes of `step` bytes. */
const speaking =
  (step: number, inline = false): Reply =>
  ({ type }, socket) => {
    if (type !== 'synthesize') return
    const frames = [frame('audio-start', FORMAT, undefined, inline)]
    for (let at = 0; at < sound.length; at += 1_001) {
      frames.push(frame('audio-chunk', FORMAT, sound.subarray(at, at + 1_001), inline))
    }
    const all = Buffer.concat([...frames, frame('audio-stop')])
    for (let at = 0; at < all.length; at += step) socket.write(all.subarray(at, at + step))
  }

const createTts = (baseUrl: string, voice = '', clock = patientClock().clock) =>
  createWyomingTts({ baseUrl, voice, clock })
const createAsr = (baseUrl: string, clock = patientClock().clock) =>
  createWyomingAsr({ baseUrl, clock, codecs })

describe('synthesis', () => {
  test.each([
    [3, false],
    [4_096, false],
    [1_000_000, false],
    [999, true],
  ])('Wyoming frames cut every %d bytes lose nothing', async (step, inline) => {
    await using upstream = await startWyoming(speaking(step, inline))
    expect(await listen(createTts(upstream.baseUrl))).toEqual({ rate: 22_050, pcm: sound })
    expect(upstream.heard[0]).toMatchObject({ type: 'synthesize', data: { text: '你好' } })
    expect(upstream.heard[0]?.data.voice).toBeUndefined()
    await upstream.closed
  })

  test('the voice of the operator replaces the default Wyoming voice', async () => {
    await using upstream = await startWyoming(speaking(4_096))
    await listen(createTts(upstream.baseUrl, 'zh_CN-huayan'))
    await listen(createTts(upstream.baseUrl, 'zh_CN-huayan'), { voice: 'en_US-amy' })
    const voices = upstream.heard.map(({ data }) => data.voice)
    expect(voices).toEqual([{ name: 'zh_CN-huayan' }, { name: 'en_US-amy' }])
  })

  test('a voice that the Wyoming server does not have is replaced by its own', async () => {
    await using upstream = await startWyoming((heard, socket, all) => {
      if (heard.data.voice) socket.write(frame('error', { text: 'SECRET no such voice' }))
      else speaking(4_096)(heard, socket, all)
    })
    expect((await listen(createTts(upstream.baseUrl), { voice: 'nobody' })).pcm).toEqual(sound)
  })

  test('a Wyoming server that closes in the middle of speech is a failure', async () => {
    await using upstream = await startWyoming((_heard, socket) => {
      socket.write(frame('audio-start', FORMAT))
      socket.end(frame('audio-chunk', FORMAT, sound))
    })
    const failure = await listen(createTts(upstream.baseUrl)).catch((error: unknown) => error)
    expect(failure).toMatchObject({ name: 'ChannelFailure', phrase: 'connection broken' })
  })

  test('a client that leaves closes the Wyoming connection', async () => {
    await using upstream = await startWyoming((_heard, socket) => {
      socket.write(frame('audio-start', FORMAT))
    })
    const gone = new AbortController()
    const stream = await createTts(upstream.baseUrl).speak(
      { text: 'x', voice: 'v', tenantId: 't' },
      gone.signal,
    )
    const reading = stream.chunks[Symbol.asyncIterator]().next()
    gone.abort(new Error('left'))
    await expect(reading).rejects.toThrow('left')
    await upstream.closed
  })

  test('a silent Wyoming server is given up', async () => {
    const heard = Promise.withResolvers<void>()
    await using upstream = await startWyoming(() => heard.resolve())
    const { clock, expire } = patientClock()
    const answer = listen(createTts(upstream.baseUrl, '', clock))
    await heard.promise
    expire()
    await expect(answer).rejects.toMatchObject({ name: 'ChannelFailure' })
  })
})

describe('recognition', () => {
  const answering =
    (text: string): Reply =>
    ({ type }, socket) => {
      if (type === 'audio-stop') socket.write(frame('transcript', { text }))
    }

  test('Wyoming recognition sends 16 kHz mono samples and reads the text', async () => {
    await using upstream = await startWyoming(answering(' 你好 '))
    const bytes = wav(16_000, tone(16_000, 0.5))
    const heard = await createAsr(upstream.baseUrl).transcribe({ bytes, tenantId: 't' }, signal)
    expect(heard).toEqual({ text: ' 你好 ' })
    const types = upstream.heard.map(({ type }) => type)
    expect(types.filter((type) => type !== 'audio-chunk')).toEqual([
      'transcribe',
      'audio-start',
      'audio-stop',
    ])
    expect(upstream.heard[0]?.data).toEqual({ language: 'zh' })
    expect(upstream.heard[1]?.data).toMatchObject({ rate: 16_000, width: 2, channels: 1 })
    const sent = Buffer.concat(upstream.heard.map(({ payload }) => payload))
    expect(sent).toEqual(Buffer.from(pcm16(tone(16_000, 0.5))))
  })

  test('a Wyoming event that nests without end is malformed', async () => {
    const nested = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
    const line = `{"type":"transcript","data":{"text":"x","more":${nested}}}\n`
    await using upstream = await startWyoming(({ type }, socket) => {
      if (type === 'audio-stop') socket.write(line)
    })
    const clip = { bytes: wav(16_000, tone(16_000, 0.1)), tenantId: 't' }
    const answer = createAsr(upstream.baseUrl).transcribe(clip, signal)
    await expect(answer).rejects.toMatchObject({ phrase: 'malformed event' })
  })

  test('Wyoming recognition decodes recordings that are not wav', async () => {
    await using upstream = await startWyoming(answering('好'))
    const bytes = await mp3(44_100, tone(44_100, 1))
    const heard = await createAsr(upstream.baseUrl).transcribe({ bytes, tenantId: 't' }, signal)
    expect(heard).toEqual({ text: '好' })
    const sent = Buffer.concat(upstream.heard.map(({ payload }) => payload))
    expect(sent.length / 2).toBeWithin(15_000, 18_000)
  })

  test.each([
    ['an error', ((_heard, socket) => socket.write(frame('error', { text: 'SECRET' }))) as Reply],
    ['hanging up', ((_heard, socket) => socket.destroy()) as Reply],
    ['no protocol', ((_heard, socket) => socket.write('HTTP/1.1 400 SECRET\n')) as Reply],
    [
      'a giant frame',
      ((_heard, socket) => socket.write('{"type":"x","data_length":1e12}\n')) as Reply,
    ],
  ])('Wyoming recognition with %s is a failure that reveals nothing', async (_name, reply) => {
    await using upstream = await startWyoming(reply)
    const bytes = wav(16_000, tone(16_000, 0.5))
    const failure = await createAsr(upstream.baseUrl)
      .transcribe({ bytes, tenantId: 't' }, signal)
      .catch((error: unknown) => error)
    expect(failure).toMatchObject({ name: 'ChannelFailure' })
    expect(String(failure)).not.toContain('SECRET')
  })

  test('an unreadable recording is a failure and closes the Wyoming connection', async () => {
    await using upstream = await startWyoming(answering('x'))
    const bytes = Buffer.from('this is no sound at all')
    const failure = createAsr(upstream.baseUrl).transcribe({ bytes, tenantId: 't' }, signal)
    await expect(failure).rejects.toMatchObject({ phrase: 'unreadable audio' })
    await upstream.closed
  })
})

test.each(['tcp://127.0.0.1:1', 'tcp://127.0.0.1', 'http://127.0.0.1:1', 'nonsense'])(
  'an address without a server, %s, is a failure',
  async (baseUrl) => {
    await expect(listen(createTts(baseUrl))).rejects.toMatchObject({ name: 'ChannelFailure' })
  },
)
