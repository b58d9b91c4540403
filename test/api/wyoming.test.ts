import { describe, expect, test } from 'bun:test'
import { caller } from '../support/api.ts'
import { pcm16, tone } from '../support/recordings.ts'
import type { Heard } from '../support/upstream-wyoming.ts'
import { fileSize, typesOf, useWyoming } from '../support/wyoming-app.ts'

const FORMAT = { rate: 16_000, width: 2, channels: 1 }
const at = useWyoming()
const { connect, say, rows } = at

const soundOf = (events: readonly Heard[]) =>
  Buffer.concat(events.map(({ payload }) => payload)).length

describe('what Home Assistant sends', () => {
  test('the server says what it can do, with all that the reference library wants', async () => {
    await using client = await connect()
    client.send('describe')
    const { type, data } = (await client.next()) ?? {}
    expect(type).toBe('info')
    const part = {
      name: expect.any(String),
      attribution: { name: expect.any(String), url: expect.any(String) },
      installed: true,
      description: expect.any(String),
      version: expect.any(String),
    }
    const model = { ...part, languages: expect.arrayContaining(['zh', 'en']) }
    expect(data).toMatchObject({
      asr: [{ ...part, models: [model] }],
      tts: [{ ...part, voices: [model], supports_synthesize_streaming: true }],
      handle: [{ ...part, models: [model], supports_home_control: false }],
    })
  })

  test('speech becomes text in the language that was named', async () => {
    at.upstream.transcriptions.reply({ text: ' 打开客厅的灯 ' })
    await using client = await connect()
    client.send('transcribe', { language: 'zh-CN' })
    client.send('audio-start', { ...FORMAT, timestamp: 0 })
    const sound = Buffer.from(pcm16(tone(16_000, 1)))
    for (let at = 0; at < sound.length; at += 2_048) {
      client.send('audio-chunk', FORMAT, sound.subarray(at, at + 2_048))
    }
    client.send('audio-stop', { timestamp: 1_000 })
    expect(await client.next()).toMatchObject({
      ...{ type: 'transcript', data: { text: '打开客厅的灯', language: 'zh-CN' } },
    })
    const { form } = await at.upstream.nextRequest()
    expect(form?.get('language')).toBe('zh')
    expect(fileSize(form)).toBe(44 + sound.length)
  })

  test('a text becomes speech', async () => {
    await using client = await connect()
    client.send('synthesize', { text: '**灯**已打开。', voice: { name: 'moonbase' } })
    const events = await client.until('audio-stop')
    expect(typesOf(events).filter((type) => type !== 'audio-chunk')).toEqual([
      'audio-start',
      'audio-stop',
    ])
    const format = { rate: 24_000, width: 2, channels: 1 }
    for (const { type, data } of events) {
      if (type !== 'audio-stop') expect(data).toMatchObject(format)
    }
    expect(soundOf(events)).toBe(24_000 * 2 * 0.2)
    expect((await at.upstream.nextRequest()).body.input).toBe('灯已打开。')
  })

  test('a text that arrives in pieces is spoken sentence by sentence', async () => {
    await using client = await connect()
    client.send('synthesize-start', { voice: { name: 'moonbase' } })
    client.send('synthesize-chunk', { text: '第一句。第' })
    // The first sentence is spoken while the second is written.
    const first = await client.until('audio-stop')
    expect([typesOf(first)[0], soundOf(first)]).toEqual(['audio-start', 9_600])
    client.send('synthesize-chunk', { text: '二句。' })
    client.send('synthesize', { text: '第一句。第二句。' })
    client.send('synthesize-stop')
    const rest = await client.until('synthesize-stopped')
    expect(typesOf(rest).filter((type) => type !== 'audio-chunk')).toEqual([
      'audio-start',
      'audio-stop',
      'synthesize-stopped',
    ])
    const spoken = at.upstream.requests.map(({ body }) => body.input)
    expect(spoken).toEqual(['第一句。', '第二句。'])
    // The connection may go on.
    client.send('synthesize', { text: '还有。' })
    expect(typesOf(await client.until('audio-stop')).at(-1)).toBe('audio-stop')
  })

  test('a conversation is remembered by the name that Home Assistant gives it', async () => {
    at.upstream.reply({ pieces: ['好的，开灯。'] })
    const context = { conversation_id: '01J5', device_id: 'd1', satellite_id: 's1' }
    expect(await say('开灯', context)).toMatchObject({
      ...{ type: 'handled', data: { text: '好的，开灯。', context } },
    })
    await say('再开一盏', context)
    expect(JSON.stringify(at.upstream.requests.at(-1)?.body)).toContain('好的，开灯。')
    await say('你好')
    expect(JSON.stringify(at.upstream.requests.at(-1)?.body)).not.toContain('开灯')
    const api = caller(`${at.app.url}/v1`, at.key.headers)
    const { sessions } = (
      await api<{ sessions: { id: string; turn_count: number }[] }>('GET', '/sessions')
    ).json()
    expect(sessions).toMatchObject([{ id: 'ha-01J5', turn_count: 2 }])
    const logged = (await rows())
      .filter(({ endpoint }) => endpoint === '/wyoming')
      .slice(0, 3)
      .reverse()
    expect(logged).toMatchObject([
      { status: 200, session_id: 'ha-01J5', text_chars: 2, channel: 'platform' },
      { status: 200, session_id: 'ha-01J5', text_chars: 4 },
      { status: 200, session_id: null, text_chars: 2 },
    ])
  })

  test('a turn without words is not handled', async () => {
    expect(await say(' ')).toMatchObject({ type: 'not-handled' })
    expect(at.upstream.requests).toEqual([])
  })

  test('golden bytes are understood however they are cut, and answered by such', async () => {
    const { version } = await import('../../package.json')
    await using client = await connect()
    const asked = [
      `{"type": "ping", "version": "${version}", "data": {"text": "a"}}\n`,
      '{"type": "transcript", "version": "1.7.2", "data_length": 73}\n',
      '{"text": "你好", "language": "zh", "context": {"conversation_id": "g"}}',
    ]
    for (const byte of Buffer.from(asked.join(''))) client.socket.write(Buffer.of(byte))
    await client.until('handled')
    expect(Buffer.concat(client.raw).toString()).toBe(
      [
        '{"type":"pong","version":"1.7.2","data_length":12,"payload_length":0}\n{"text":"a"}',
        '{"type":"handled","version":"1.7.2","data_length":51,"payload_length":0}\n',
        '{"text":"好的","context":{"conversation_id":"g"}}',
      ].join(''),
    )
  })
})
