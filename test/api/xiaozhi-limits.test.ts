import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { openSocket, type SocketOptions } from '../../scripts/device/board.ts'
import { type Call, caller } from '../support/api.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { ask, greetedBoard } from '../support/board.ts'
import { type DeviceClient, deviceClient } from '../support/devices.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
let owner: TestKey
let devices: DeviceClient
let person: Call

beforeAll(async () => {
  upstream = await startUpstream()
  const { baseUrl } = upstream
  const env = { MB_TRUST_PROXY: '1', MB_TTS_BASE_URL: baseUrl, MB_ASR_BASE_URL: baseUrl }
  app = await startApp({ upstream: baseUrl, env })
  owner = await app.key()
  devices = deviceClient(app, owner)
  person = caller(`${app.url}/console`, (await app.person()).headers)
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const greeted = (options?: SocketOptions, fields?: object) =>
  greetedBoard(app, devices, options, fields)

describe('who may open a socket', () => {
  const handshake = (headers: Readonly<Record<string, string>>, path = '/xiaozhi/v1/') =>
    fetch(app.url + path, {
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
        ...headers,
      },
    })

  test("a board's socket opens only with the key of a device", async () => {
    expect((await handshake({})).status).toBe(401)
    expect((await handshake({ authorization: `Bearer sk-mb-${'0'.repeat(64)}` })).status).toBe(401)
    expect((await handshake(owner.headers)).status).toBe(403)
    const { websocket, socket } = await greeted()
    await socket.close()
    const plain = await fetch(`${app.url}/xiaozhi/v1/`, {
      headers: { authorization: `Bearer ${websocket.token}` },
    })
    expect(plain.status).toBe(400)
  })

  test('a page that gives its key in the query', async () => {
    const { websocket, socket } = await greeted()
    await socket.close()
    const query = new URLSearchParams({ authorization: `Bearer ${websocket.token}` })
    const page = await openSocket({ url: `${websocket.url}?${query}`, token: '' })
    await page.next('hello')
    await page.close()
  })
})

describe('a socket is closed', () => {
  test('a socket is closed by a new one of the same device', async () => {
    const { websocket, socket } = await greeted()
    const second = await openSocket(websocket)
    expect(await socket.closed).toMatchObject({ code: 1008 })
    await second.next('hello')
    await second.close()
  })

  const endings: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
    'the recode of its device': (id) => devices.call('POST', `/${id}/recode`),
    'the deletion of its device': (id) => devices.call('DELETE', `/${id}`),
    async 'the revocation of its key'(id) {
      const { keys } = (
        await person<{ keys: { id: string; device_id: string }[] }>('GET', '/keys')
      ).json()
      return person('DELETE', `/keys/${keys.find(({ device_id }) => device_id === id)?.id}`)
    },
  }
  test.each(Object.keys(endings))(
    'a socket is closed by %s, in the middle of its speech',
    async (ending) => {
      const { id, socket, websocket } = await greeted()
      upstream.speech.reply({ ms: 20_000 })
      ask(socket, '讲个故事')
      await socket.next('tts', 'sentence_start')
      await endings[ending]?.(id)
      expect(await socket.closed).toMatchObject({ code: 1008 })
      await expect(openSocket(websocket)).rejects.toThrow()
    },
  )

  test('a socket is told of the end of its speech before a stopping server closes it', async () => {
    const { socket } = await greeted()
    app.stopTurns()
    expect(await socket.closed).toMatchObject({ code: 1001 })
  })

  test('a socket whose first message is no hello is closed', async () => {
    const { websocket, socket } = await greeted()
    await socket.close()
    const rude = await openSocket(websocket, { hello: { type: 'listen', state: 'start' } })
    expect(await rude.closed).toMatchObject({ code: 1002 })
  })

  test('a socket is closed by a text of more than 64 KB', async () => {
    const { socket } = await greeted()
    socket.send({ type: 'listen', state: 'detect', text: 'x'.repeat(64 * 1024) })
    expect(await socket.closed).toMatchObject({ code: 1009 })
  })
})

test('a flood of frames and broken messages is dropped, and its last word heard', async () => {
  const { socket } = await greeted()
  const stop = { type: 'listen', state: 'stop' }
  socket.send({ type: 'listen', state: 'start', mode: 'manual' })
  for (let i = 0; i < 3_000; i++) socket.raw.send(crypto.getRandomValues(new Uint8Array(200)))
  socket.send(stop)
  await socket.next('tts', 'stop')
  for (let i = 0; i < 300; i++) socket.raw.send('{"type":"listen",'.repeat(100))
  for (const text of [
    '[]',
    'null',
    '"hello"',
    '{"type":7}',
    '{"type":"mcp","payload":{"id":{}}}',
  ]) {
    socket.raw.send(text)
  }
  for (let i = 0; i < 300; i++) socket.send(stop)
  ask(socket, '还在吗')
  expect((await socket.next('stt')).text).toBe('还在吗')
  await socket.next('tts', 'stop')
  await socket.close()
})

describe('the tools of a board', () => {
  const TOOLS = [
    { name: 'self.get_device_status', description: 'status', inputSchema: { type: 'object' } },
    {
      name: 'self.audio_speaker.set_volume',
      description: 'Sets the volume',
      inputSchema: {
        type: 'object',
        properties: { volume: { type: 'integer', minimum: 0, maximum: 100 } },
        required: ['volume'],
      },
    },
    { name: 'self.reboot', description: 'Restarts', inputSchema: { type: 'object' } },
    {
      name: 'self.huge',
      description: '',
      // 18,000 bytes.
      inputSchema: { type: 'object', description: '中'.repeat(6_000) },
    },
  ]
  const asked: { method: string; params: Record<string, unknown>; id: unknown }[] = []

  /** Tells its tools in two pages, and what it was asked. */
  const tools: NonNullable<SocketOptions['tools']> = (method, params) => {
    asked.push({ method, params, id: null })
    if (method === 'tools/call') {
      if ((params.arguments as { volume?: number }).volume === 99) return { result: {} }
      return params.name === 'self.get_device_status'
        ? { error: { message: 'busy' } }
        : { result: { content: [{ type: 'text', text: 'true' }], isError: false } }
    }
    if (method !== 'tools/list') return { result: {} }
    return params.cursor === ''
      ? { result: { tools: TOOLS.slice(0, 1), nextCursor: 'self.audio_speaker.set_volume' } }
      : { result: { tools: TOOLS.slice(1) } }
  }

  async function offeredTo(fields: object = {}) {
    const { socket } = await greeted({ tools }, fields)
    while (!asked.some(({ params }) => params.cursor === 'self.audio_speaker.set_volume')) {
      await socket.next('mcp')
    }
    ask(socket, '调音量')
    await socket.next('tts', 'stop')
    const request = upstream.requests.find(({ path }) => path === '/chat/completions')
    const named = (request?.body.tools ?? []) as { function: { name: string } }[]
    return { socket, names: named.map((tool) => tool.function.name) }
  }

  test('the tools of a board are offered on its socket and called by the model', async () => {
    asked.length = 0
    const call = (name: string, args: string) => ({ toolCalls: [{ name, arguments: args }] })
    upstream.reply(call('device__self_audio_speaker_set_volume', '{"volume":30}'))
    upstream.reply(call('device__self_get_device_status', '{}'))
    upstream.reply(call('device__self_audio_speaker_set_volume', '{"volume":99}'))
    upstream.reply({ text: '好了。' })
    const { socket, names } = await offeredTo()
    expect(names.slice(0, 2)).toEqual([
      'device__self_get_device_status',
      'device__self_audio_speaker_set_volume',
    ])
    expect(names).not.toContain('device__self_reboot')
    expect(names).not.toContain('device__self_huge')
    const called = asked.filter(({ method }) => method === 'tools/call')
    expect(called[0]?.params).toEqual({
      name: 'self.audio_speaker.set_volume',
      arguments: { volume: 30 },
    })
    const results = upstream.requests.flatMap(({ body }) =>
      ((body.messages ?? []) as { role: string; content: string }[])
        .filter(({ role }) => role === 'tool')
        .map(({ content }) => content),
    )
    expect(new Set(results)).toEqual(
      new Set(['true', 'Error: busy', 'Error: the device gave no sound answer']),
    )
    for (const { payload } of socket.heard.filter(({ type }) => type === 'mcp')) {
      const { id, method } = payload as { id?: unknown; method: string }
      expect(typeof id).toBe(method.startsWith('notifications/') ? 'undefined' : 'number')
    }
    await socket.close()
  })

  test.each([
    [['calculator'], ['calculator']],
    [['device__*'], ['device__self_get_device_status', 'device__self_audio_speaker_set_volume']],
    [['device__self_get_device_status'], ['device__self_get_device_status']],
  ])(
    'the tools of a board are offered as the app of the device allows: %p',
    async (tools_enabled, expected) => {
      asked.length = 0
      const made = await person<{ id: string }>('POST', '/apps', { name: 'x', tools_enabled })
      const { socket, names } = await offeredTo({ app_id: made.json().id })
      expect(names).toEqual(expected)
      await socket.close()
    },
  )

  test('the tools of a board are not offered elsewhere', async () => {
    const { websocket, socket } = await greeted({ tools })
    await fetch(`${app.url}/v1/agent`, {
      method: 'POST',
      headers: { authorization: `Bearer ${websocket.token}` },
      body: JSON.stringify({ text: '你好' }),
    }).then((answer) => answer.text())
    const request = upstream.requests.find(({ path }) => path === '/chat/completions')
    expect(JSON.stringify(request?.body.tools ?? [])).not.toContain('device__')
    await socket.close()
  })
})

test('a code in the address that cannot even be decoded is a wrong one', async () => {
  const headers = { 'device-id': '02:00:00:00:00:01', 'client-id': 'c' }
  for (const path of ['/xiaozhi/%zz/', '/xiaozhi/%zz', '/xiaozhi/%ff/']) {
    const answer = await fetch(app.url + path, { method: 'POST', headers, body: '{}' })
    const { activation, websocket } = await answer.json()
    expect([answer.status, activation, websocket.token]).toMatchObject([
      200,
      { code: '', message: '配对码无效或已过期，请在控制台重新生成' },
      '',
    ])
  }
})
