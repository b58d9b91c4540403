import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { BoardSocket, SocketOptions } from '../../scripts/device/board.ts'
import { caller } from '../support/api.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { ask, greetedBoard, voice } from '../support/board.ts'
import { type DeviceClient, deviceClient } from '../support/devices.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
let owner: TestKey
let devices: DeviceClient

beforeAll(async () => {
  upstream = await startUpstream()
  const { baseUrl } = upstream
  app = await startApp({
    upstream: baseUrl,
    env: { MB_TRUST_PROXY: '1', MB_TTS_BASE_URL: baseUrl, MB_ASR_BASE_URL: baseUrl },
  })
  owner = await app.key()
  devices = deviceClient(app, owner)
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const greeted = (options?: SocketOptions) => greetedBoard(app, devices, options)

/** The states of speech and the sentences that the board was told, in order. */
const told = (socket: BoardSocket) =>
  socket.heard.flatMap(({ type, state, text }) =>
    ['stt', 'tts', 'alert'].includes(type) ? [[state ?? type, text].filter(Boolean).join(' ')] : [],
  )

describe.each([
  [1, 60],
  [2, 60],
  [3, 20],
])('frames of version %d with %d ms', (version, frameMs) => {
  test(`frames of version ${version}, ${frameMs} ms, carry question and answer`, async () => {
    const { socket, hello, id } = await greeted({ version, frameMs })
    expect(hello).toMatchObject({
      session_id: `dev-${id}`,
      transport: 'websocket',
      version: 1,
      audio_params: { format: 'opus', sample_rate: 24_000, channels: 1, frame_duration: 60 },
    })
    upstream.transcriptions.reply({ text: '天气怎么样' })
    upstream.reply({ text: '你好！今天天气很好。' })
    socket.send({ type: 'listen', state: 'start', mode: 'auto' })
    await socket.speak(voice(1))
    await socket.next('tts', 'stop')
    expect(told(socket)).toEqual([
      'stt 天气怎么样',
      'start',
      'sentence_start 你好！',
      'sentence_start 今天天气很好。',
      'stop',
    ])
    const packets = await socket.played()
    expect(packets.every(({ length }) => length === 1_440)).toBe(true)
    expect(Math.max(...packets.map((packet) => Math.max(...packet)))).toBeGreaterThan(4_000)
    await socket.close()
  })
})

test('the recogniser gets what was said, as a wav file of 16 kHz', async () => {
  const { socket } = await greeted()
  socket.send({ type: 'listen', state: 'start', mode: 'manual' })
  await socket.speak(voice(1, 0))
  socket.send({ type: 'listen', state: 'stop' })
  await socket.next('tts', 'stop')
  const request = upstream.requests.find(({ path }) => path === '/audio/transcriptions')
  const file = request?.form?.get('file') as Blob
  const wav = Buffer.from(await file.arrayBuffer())
  expect([wav.toString('latin1', 0, 4), wav.readUInt32LE(24)]).toEqual(['RIFF', 16_000])
  expect(wav.readUInt32LE(40)).toBe(16 * 60 * 16 * 2)
  await socket.close()
})

test('a wake word is not answered, and a board that sends no packets in silence is', async () => {
  const { socket } = await greeted()
  ask(socket, '你好小智')
  socket.send({ type: 'listen', state: 'start', mode: 'auto' })
  await socket.speak(voice(1, 0))
  expect((await socket.next('stt')).text).toBe('你好，今天天气怎么样？')
  await socket.next('tts', 'stop')
  expect(told(socket).filter((line) => line.startsWith('stt'))).toHaveLength(1)
  await socket.close()
})

test('sound is sent at most 300 ms ahead, and speech ends when it was played', async () => {
  const { socket } = await greeted()
  upstream.speech.reply({ ms: 1_500 })
  // Nothing is sent before this, and a busy machine only lets packets come later.
  const begin = performance.now()
  ask(socket, '讲个故事')
  await socket.next('tts', 'stop')
  expect(socket.sound.length).toBeGreaterThanOrEqual(25)
  for (const [i, { at }] of socket.sound.entries()) {
    // Packet i ends 60 (i + 1) ms after the first was sent.
    expect(60 * (i + 1) - (at - begin)).toBeLessThanOrEqual(300)
  }
  const stop = socket.heard.at(-1)?.at ?? 0
  expect(stop - begin).toBeGreaterThanOrEqual(60 * socket.sound.length)
  await socket.close()
})

test('an abort stops model and speech at once, and nothing is stored', async () => {
  const { socket, id } = await greeted()
  const never = new Promise(() => {})
  upstream.reply({ pieces: ['很长的故事。', '还有'], hold: { after: 2, until: never } })
  upstream.speech.reply({ ms: 20_000 })
  ask(socket, '讲个故事')
  await socket.next('tts', 'sentence_start')
  socket.send({ type: 'abort', reason: 'wake_word_detected' })
  await socket.next('tts', 'stop')
  const count = socket.sound.length
  await upstream.aborted()
  // What comes after the next answer was asked for has nothing of this one.
  upstream.reply({ text: '在。' })
  ask(socket, '你好')
  expect((await socket.next('stt')).text).toBe('你好')
  expect(socket.sound.length - count).toBeLessThanOrEqual(1)
  await socket.next('tts', 'stop')
  const path = `${app.url}/v1/sessions/dev-${id}/history`
  const { messages } = await (await fetch(path, { headers: owner.headers })).json()
  expect(messages.map(({ content }: { content: string }) => content)).toEqual(['你好', '在。'])
  await socket.close()
})

test('who speaks into an answer interrupts it where the board listens all the time', async () => {
  const { socket } = await greeted()
  socket.send({ type: 'listen', state: 'start', mode: 'realtime' })
  upstream.transcriptions.reply({ text: '第一个问题' })
  upstream.speech.reply({ ms: 20_000 })
  await socket.speak(voice(1))
  await socket.next('tts', 'sentence_start')
  upstream.transcriptions.reply({ text: '第二个问题' })
  await socket.speak(voice(1))
  await socket.next('tts', 'stop')
  expect((await socket.next('stt')).text).toBe('第二个问题')
  await socket.next('tts', 'stop')
  await socket.close()
})

describe('what fails is told in a short sentence', () => {
  test('a board is told in a short sentence that nothing was understood', async () => {
    const { socket } = await greeted()
    upstream.transcriptions.reply({ text: '' })
    socket.send({ type: 'listen', state: 'start', mode: 'manual' })
    await socket.speak(voice(0.5))
    socket.send({ type: 'listen', state: 'stop' })
    await socket.next('tts', 'stop')
    expect(told(socket)).toEqual(['start', 'sentence_start 没有听清，请再说一遍', 'stop'])
    expect(socket.sound.length).toBeGreaterThan(0)
    await socket.close()
  })

  test('a board is told in a short sentence that recognition failed', async () => {
    const { socket } = await greeted()
    for (let i = 0; i < 4; i++) upstream.transcriptions.fault(400)
    socket.send({ type: 'listen', state: 'start', mode: 'auto' })
    await socket.speak(voice(1))
    await socket.next('tts', 'stop')
    expect(told(socket)).toEqual(['start', 'sentence_start 语音识别暂不可用，请稍后重试', 'stop'])
    await socket.close()
  })

  test('a board is told in a short sentence that the model failed', async () => {
    const { socket } = await greeted()
    upstream.fault(400)
    ask(socket, '你好')
    await socket.next('tts', 'stop')
    expect(told(socket).slice(0, 2)).toEqual(['stt 你好', 'start'])
    expect(told(socket)[2]).toContain('模型服务拒绝了请求')
    await socket.close()
  })

  test('a board is told in a short sentence that speech failed', async () => {
    const { socket } = await greeted()
    for (let i = 0; i < 4; i++) upstream.speech.fault(400)
    upstream.reply({ text: '你好。再见。' })
    ask(socket, '你好')
    await socket.next('tts', 'stop')
    expect(told(socket)).toEqual([
      'stt 你好',
      'start',
      'sentence_start 你好。',
      'sentence_start 再见。',
      'alert',
      'stop',
    ])
    expect(socket.heard.find(({ type }) => type === 'alert')).toMatchObject({
      status: expect.any(String),
      message: '语音合成暂不可用，请稍后重试',
      emotion: expect.any(String),
    })
    await socket.close()
  })

  test('a board is told in a short sentence of too many turns a minute', async () => {
    const { socket, id } = await greeted()
    await limit(id, 1)
    for (const text of ['一', '二']) {
      ask(socket, text)
      await socket.next('tts', 'stop')
    }
    expect(told(socket).slice(-4)).toEqual([
      'stt 二',
      'start',
      'sentence_start 请求过于频繁，请稍后再试',
      'stop',
    ])
    await socket.close()
    // Of the answer and of the refusal, and of what was said of each.
    expect((await rowsOf(id)).map(({ endpoint, status }) => [endpoint, status])).toEqual([
      ['/v1/agent', 200],
      ['/v1/agent', 429],
      ['/v1/tts', 200],
      ['/v1/tts', 200],
      ['/xiaozhi', 101],
    ])
  })
})

/** Sets the requests a minute of a device's key. */
async function limit(deviceId: string, rate: number): Promise<void> {
  const person = caller(`${app.url}/console`, (await app.person()).headers)
  const { keys } = (
    await person<{ keys: { id: string; device_id: string }[] }>('GET', '/keys')
  ).json()
  const key = keys.find(({ device_id }) => device_id === deviceId)
  expect((await person('PUT', `/keys/${key?.id}`, { rate_limit: rate })).status).toBe(200)
}

test('a socket and the steps of a turn have their rows in the request log', async () => {
  const { socket, id } = await greeted()
  socket.send({ type: 'listen', state: 'start', mode: 'auto' })
  await socket.speak(voice(1))
  await socket.next('tts', 'stop')
  await socket.close()
  const rows = await rowsOf(id)
  expect(rows).toEqual([
    { endpoint: '/v1/agent', status: 200, session_id: `dev-${id}` },
    { endpoint: '/v1/asr', status: 200, session_id: null },
    { endpoint: '/v1/tts', status: 200, session_id: null },
    { endpoint: '/xiaozhi', status: 101, session_id: `dev-${id}` },
  ])
})

async function rowsOf(deviceId: string) {
  await app.flush()
  const answer = await fetch(`${app.url}/v1/logs?device_id=${deviceId}`, { headers: owner.headers })
  const { logs } = (await answer.json()) as { logs: Record<string, unknown>[] }
  return logs
    .map(({ endpoint, status, session_id }) => ({ endpoint, status, session_id }))
    .sort((a, b) => `${a.endpoint} ${a.status}`.localeCompare(`${b.endpoint} ${b.status}`))
}

test('neither the key of a board nor the text of a turn is in the log', async () => {
  const { socket, websocket } = await greeted()
  ask(socket, '一个秘密')
  await socket.next('tts', 'stop')
  await socket.close()
  expect(app.log()).not.toContain(websocket.token)
  expect(app.log()).not.toContain('一个秘密')
})
