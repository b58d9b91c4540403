import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { openSocket, type SocketOptions } from '../../scripts/device/board.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { startingBoard } from '../support/board.ts'
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
    env: { MB_TTS_BASE_URL: baseUrl, MB_ASR_BASE_URL: baseUrl },
  })
  owner = await app.key()
  devices = deviceClient(app, owner)
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

/** A paired board whose hello was answered. */
async function greeted(options: SocketOptions = {}) {
  const { id, code } = await devices.register()
  const { websocket } = await startingBoard(app).start(code)
  const socket = await openSocket(websocket, options)
  const hello = await socket.next('hello')
  return { id, websocket, socket, hello }
}

test('a typed question is answered in words and sound', async () => {
  const { socket, hello, id } = await greeted()
  expect(hello).toMatchObject({
    session_id: `dev-${id}`,
    transport: 'websocket',
    audio_params: { format: 'opus', sample_rate: 24_000, channels: 1, frame_duration: 60 },
  })
  upstream.reply({ text: '你好！今天天气很好。' })
  socket.send({ type: 'listen', state: 'detect', text: '天气怎么样' })
  expect((await socket.next('stt')).text).toBe('天气怎么样')
  await socket.next('tts', 'start')
  expect((await socket.next('tts', 'sentence_start')).text).toBe('你好！')
  expect((await socket.next('tts', 'sentence_start')).text).toBe('今天天气很好。')
  await socket.next('tts', 'stop')
  const samples = (await socket.played()).flatMap((packet) => [...packet])
  expect(Math.max(...samples.map(Math.abs))).toBeGreaterThan(4_000)
  await socket.close()
})
