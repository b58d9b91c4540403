import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { openSocket } from '../../scripts/device/board.ts'
import { caller } from '../support/api.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { ask, greetedBoard, voice } from '../support/board.ts'
import { fakeClock } from '../support/clock.ts'
import { type DeviceClient, deviceClient } from '../support/devices.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const clock = fakeClock({ timers: 'moved' })
let upstream: Upstream
let app: TestApp
let owner: TestKey
let devices: DeviceClient

beforeAll(async () => {
  upstream = await startUpstream()
  const { baseUrl } = upstream
  const env = { MB_TRUST_PROXY: '1', MB_TTS_BASE_URL: baseUrl, MB_ASR_BASE_URL: baseUrl }
  app = await startApp({ upstream: baseUrl, env, clock })
  owner = await app.key()
  devices = deviceClient(app, owner)
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

type Greeted = Awaited<ReturnType<typeof greetedBoard>>
const greeted = () => greetedBoard(app, devices)

/** Resolves when the server has read everything so far: it answers a second hello, too. */
async function heardBy({ socket }: Greeted): Promise<void> {
  socket.send({ type: 'hello' })
  await socket.next('hello')
}

/** Types a question, which is answered when no listening has followed for a second. */
async function typed(board: Greeted, text: string): Promise<void> {
  ask(board.socket, text)
  await heardBy(board)
  clock.advance(1_000)
}

test('a socket without a hello is closed after ten seconds, and not before', async () => {
  const { websocket, socket } = await greeted()
  await socket.close()
  const mute = await opened(websocket)
  clock.advance(9_999)
  mute.send('{"type":"hello"}')
  const answer = await new Promise<string>((resolve) => {
    mute.onmessage = ({ data }) => resolve(data)
  })
  expect(JSON.parse(answer)).toMatchObject({ type: 'hello', transport: 'websocket' })
  mute.close()
  const late = await opened(websocket)
  const closed = new Promise<number>((resolve) => {
    late.onclose = ({ code }) => resolve(code)
  })
  clock.advance(10_000)
  expect(await closed).toBe(1002)
})

/** A socket that has said nothing yet. */
async function opened({ url, token }: Greeted['websocket']): Promise<WebSocket> {
  // Bun's own second argument, which the types of browsers do not know.
  const headers = { headers: { authorization: `Bearer ${token}` } } as unknown as string[]
  const socket = new WebSocket(url, headers)
  await new Promise((resolve) => {
    socket.onopen = resolve
  })
  return socket
}

test('an utterance is cut after a minute and answered', async () => {
  const board = await greeted()
  const { socket } = board
  socket.send({ type: 'listen', state: 'start', mode: 'manual' })
  // Six seconds of sound at a time, below the limit of sound.
  for (let i = 0; i < 10; i++) {
    await socket.speak(voice(6, 0))
    await heardBy(board)
    clock.advance(6_000)
  }
  expect((await socket.next('stt')).text).toBe('你好，今天天气怎么样？')
  expect(await recognisedSeconds()).toBe(60)
  await socket.next('tts', 'stop')
  await socket.close()
})

test('sound that comes faster than it is spoken is dropped, the rest answered', async () => {
  const board = await greeted()
  const { socket } = board
  socket.send({ type: 'listen', state: 'start', mode: 'manual' })
  await socket.speak(voice(12, 0))
  await heardBy(board)
  clock.advance(2_000)
  await socket.speak(voice(9, 0))
  socket.send({ type: 'listen', state: 'stop' })
  await socket.next('stt')
  expect(await recognisedSeconds()).toBe(15)
  await socket.next('tts', 'stop')
  await socket.close()
})

/** How much sound the recogniser got. */
async function recognisedSeconds(): Promise<number> {
  const request = upstream.requests.find(({ path }) => path === '/audio/transcriptions')
  const file = request?.form?.get('file') as Blob
  const wav = Buffer.from(await file.arrayBuffer())
  return wav.readUInt32LE(40) / (16_000 * 2)
}

test('a button that was pressed for a moment asks no recogniser', async () => {
  const { socket } = await greeted()
  socket.send({ type: 'listen', state: 'start', mode: 'manual' })
  socket.send({ type: 'listen', state: 'stop' })
  expect((await socket.next('tts', 'sentence_start')).text).toBe('没有听清，请再说一遍')
  await socket.next('tts', 'stop')
  expect(upstream.requests.filter(({ path }) => path === '/audio/transcriptions')).toEqual([])
  await socket.close()
})

test('a board whose key has no tokens left gets a sentence that says so', async () => {
  const board = await greeted()
  const { socket, id } = board
  const person = caller(`${app.url}/console`, (await app.person()).headers)
  const { keys } = (
    await person<{ keys: { id: string; device_id: string }[] }>('GET', '/keys')
  ).json()
  const key = keys.find(({ device_id }) => device_id === id)
  expect((await person('PUT', `/keys/${key?.id}`, { daily_tokens: 1 })).status).toBe(200)
  await typed(board, '一')
  await socket.next('tts', 'stop')
  await typed(board, '二')
  await socket.next('tts', 'stop')
  const states = socket.heard.flatMap(({ type, state }) => (type === 'tts' ? [state] : []))
  expect(states.slice(-3)).toEqual(['start', 'sentence_start', 'stop'])
  expect(socket.heard.at(-2)?.text).toContain('额度')
  await socket.close()
})

test('a device is seen at its hello and at each turn', async () => {
  const board = await greeted()
  const seen = async () => {
    await app.flush()
    return (await devices.call('GET', `/${board.id}`)).body.last_seen_at
  }
  expect(await seen()).toBe(clock.iso())
  for (const text of ['一', '二']) {
    clock.advance(60_000)
    await typed(board, text)
    await board.socket.next('tts', 'stop')
    expect(await seen()).toBe(clock.iso())
  }
  clock.advance(60_000)
  await board.socket.close()
  await (await openSocket(board.websocket)).next('hello')
  expect(await seen()).toBe(clock.iso())
})

test('nobody of another tenant ends the socket of a board', async () => {
  const board = await greeted()
  const other = deviceClient(app, await app.key('stranger@example.com'))
  expect((await other.call('POST', `/${board.id}/recode`)).status).toBe(404)
  expect((await other.call('DELETE', `/${board.id}`)).status).toBe(404)
  const stranger = caller(`${app.url}/console`, (await app.person('stranger@example.com')).headers)
  const boards = (await stranger<{ connected: string[] }>('GET', '/boards')).json()
  expect(boards).toMatchObject({ connected: [], last_turns: [] })
  await heardBy(board)
  await board.socket.close()
})

test('an interrupted turn has its rows in the request log', async () => {
  const board = await greeted()
  upstream.speech.reply({ ms: 20_000 })
  await typed(board, '讲个故事')
  await board.socket.next('tts', 'sentence_start')
  board.socket.send({ type: 'abort' })
  await board.socket.next('tts', 'stop')
  await board.socket.close()
  // The steps of the turn end after the board was told that its speech has ended.
  let rows: string[] = []
  while (rows.length < 3) rows = await rowsOf(board.id)
  expect(rows).toEqual(['/v1/agent 200', '/v1/tts 200', '/xiaozhi 101'])
})

async function rowsOf(deviceId: string): Promise<string[]> {
  await app.flush()
  const answer = await fetch(`${app.url}/v1/logs?device_id=${deviceId}`, { headers: owner.headers })
  const { logs } = (await answer.json()) as { logs: { endpoint: string; status: number }[] }
  return logs.map(({ endpoint, status }) => `${endpoint} ${status}`).sort()
}
