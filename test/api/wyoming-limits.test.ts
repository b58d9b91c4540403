import { describe, expect, test } from 'bun:test'
import { caller } from '../support/api.ts'
import { pcm16, tone } from '../support/recordings.ts'
import { fileSize, HOME, typesOf, useWyoming } from '../support/wyoming-app.ts'
import { connectWyoming } from '../support/wyoming-client.ts'

const FORMAT = { rate: 16_000, width: 2, channels: 1 }
const at = useWyoming()
const { connect, say, rows } = at

describe('limits', () => {
  test('the thirty-third Wyoming connection gets an error and is closed', async () => {
    await using other = await at.start(at.key.key)
    const clients = await Promise.all(
      Array.from({ length: 32 }, () => connectWyoming(other.wyomingPort)),
    )
    await using more = await connectWyoming(other.wyomingPort)
    expect(await more.next()).toMatchObject({
      ...{ type: 'error', data: { code: 'too_many_connections' } },
    })
    await more.closed()
    for (const client of clients) client.socket.destroy()
  })

  test('an event of more than 1 MB with all its parts ends the connection', async () => {
    await using client = await connect()
    client.send('audio-chunk', FORMAT, Buffer.alloc(1024 * 1024 - 200))
    client.send('ping')
    expect(await client.next()).toMatchObject({ type: 'pong' })
    client.send('audio-chunk', FORMAT, Buffer.alloc(1024 * 1024))
    await client.closed()
  })

  test('of a client whose question is being answered a few events are read', async () => {
    const answer = Promise.withResolvers<void>()
    at.upstream.reply({ text: '好的', holdHeaders: answer.promise })
    await using client = await connect()
    await using other = await connect()
    client.send('transcript', { text: '问' })
    await at.upstream.nextRequest()
    const big = { text: 'x'.repeat(1_000_000) }
    for (let i = 0; i < 64; i++) client.send('unknown', big)
    // Other connections are served meanwhile; so many rounds bring nothing more of this one.
    for (let round = 0, left = -1; round < 50; round++) {
      other.send('ping')
      await other.next()
      if (left !== client.socket.writableLength) round = 0
      left = client.socket.writableLength
    }
    expect(client.socket.writableLength).toBeGreaterThan(32_000_000)
    answer.resolve()
    expect(await client.next()).toMatchObject({ type: 'handled' })
    client.send('ping')
    expect(await client.next()).toMatchObject({ type: 'pong' })
  })

  test('a malformed Wyoming event ends the connection', async () => {
    await using client = await connect()
    client.socket.write('GET / HTTP/1.1\r\n\r\n')
    await client.closed()
  })

  test('only the first minute of a recording is recognised', async () => {
    at.upstream.transcriptions.reply({ text: '好' })
    await using client = await connect()
    client.send('transcribe')
    client.send('audio-start', FORMAT)
    const tenSeconds = Buffer.from(pcm16(tone(16_000, 10)))
    for (let i = 0; i < 7; i++) client.send('audio-chunk', FORMAT, tenSeconds)
    client.send('audio-stop')
    expect(await client.next()).toMatchObject({ type: 'transcript', data: { text: '好' } })
    expect(fileSize((await at.upstream.nextRequest()).form)).toBe(44 + 60 * 32_000)
  })

  test('sound of another form is refused', async () => {
    await using client = await connect()
    client.send('audio-start', { rate: 16_000, width: 2, channels: 2 })
    expect(await client.next()).toMatchObject({ type: 'error', data: { code: 'field_invalid' } })
    await client.closed()
  })

  test('a turn over the rate limit is answered with a spoken sentence', async () => {
    const person = await at.app.person(HOME)
    const console = caller(`${at.app.url}/console`, person.headers)
    const limit = (rate_limit: number) => console('PUT', `/keys/${at.key.id}`, { rate_limit })
    await limit(1)
    expect(await say('一')).toMatchObject({ type: 'handled', data: { text: '好的' } })
    const asked = at.upstream.requests.length
    expect(await say('二')).toMatchObject({
      ...{ type: 'handled', data: { text: '请求过于频繁，请稍后再试' } },
    })
    expect(at.upstream.requests.length).toBe(asked)
    expect((await rows())[0]).toMatchObject({ status: 429, error_class: 'rate_limited' })
    await using client = await connect()
    client.send('synthesize', { text: '好。' })
    expect(typesOf(await client.until('audio-stop')).at(-1)).toBe('audio-stop')
    await limit(0)
  })

  test('upstreams that fail are errors with a code, and end the connection', async () => {
    at.upstream.speech.fault(401)
    at.upstream.transcriptions.fault(401)
    at.upstream.fault(401)
    const failing = async (...events: [string, object, Buffer<ArrayBuffer>?][]) => {
      await using client = await connect()
      for (const [type, data, payload] of events) client.send(type, data, payload)
      const answer = await client.next()
      await client.closed()
      return answer?.data
    }
    expect(await failing(['synthesize', { text: '好' }])).toEqual({
      ...{ text: '语音合成暂不可用，请稍后重试', code: 'tts_unavailable' },
    })
    const sound = Buffer.from(pcm16(tone(16_000, 0.5)))
    const heard = await failing(
      ['transcribe', {}],
      ['audio-chunk', FORMAT, sound],
      ['audio-stop', {}],
    )
    expect(heard).toMatchObject({ code: 'asr_unavailable' })
    const said = await failing(['transcript', { text: 'x' }])
    expect(said).toMatchObject({ code: 'model_upstream_4xx' })
    expect(at.app.log()).not.toContain('打开客厅')
  })

  test('a client that leaves ends its speech', async () => {
    at.upstream.speech.reply({ ms: 60_000, hangAfter: 5 })
    const client = await connect()
    client.send('synthesize', { text: '很长。' })
    await client.next()
    client.socket.destroy()
    await at.upstream.aborted()
  })
})

describe('the key', () => {
  test('an unknown key is refused with each request, and warned of at the start', async () => {
    await using other = await at.start('sk-mb-unknown')
    expect(other.log()).toContain('wyoming key is unknown or revoked')
    await using client = await connectWyoming(other.wyomingPort)
    for (const type of ['describe', 'synthesize', 'transcript']) {
      client.send(type, { text: 'x' })
      expect(await client.next()).toMatchObject({ type: 'error', data: { code: 'invalid_key' } })
    }
  })

  test('a key that is revoked ends a speech in its middle, and later connections', async () => {
    at.upstream.speech.reply({ ms: 60_000, hangAfter: 5 })
    await using speaking = await connect()
    speaking.send('synthesize', { text: '很长。' })
    expect(await speaking.next()).toMatchObject({ type: 'audio-start' })
    const person = await at.app.person(HOME)
    await caller(`${at.app.url}/console`, person.headers)('DELETE', `/keys/${at.key.id}`)
    expect((await speaking.until('error')).at(-1)?.data.code).toBe('invalid_key')
    await speaking.closed()
    await using client = await connect()
    client.send('describe')
    expect(await client.next()).toMatchObject({ type: 'error', data: { code: 'invalid_key' } })
    await client.closed()
  })
})
