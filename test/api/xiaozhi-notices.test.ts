import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { BoardSocket } from '../../scripts/device/board.ts'
import type { Schedule } from '../../src/features/runs/model.ts'
import { type Call, caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { ask, greetedBoard, voice } from '../support/board.ts'
import { quietClock } from '../support/clock.ts'
import { type DeviceClient, deviceClient } from '../support/devices.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
let call: Call
let devices: DeviceClient

beforeAll(async () => {
  upstream = await startUpstream()
  const { baseUrl } = upstream
  app = await startApp({
    upstream: baseUrl,
    clock: quietClock(),
    env: { MB_TRUST_PROXY: '1', MB_TTS_BASE_URL: baseUrl, MB_ASR_BASE_URL: baseUrl },
  })
  const owner = await app.key()
  call = caller(`${app.url}/v1`, owner.headers)
  devices = deviceClient(app, owner)
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const sentences = (socket: BoardSocket) =>
  socket.heard.flatMap(({ state, text }) => (state === 'sentence_start' ? [text] : []))

/** A schedule for the device, whose run has ended. */
async function runFor(device: string, name: string, text: string): Promise<void> {
  upstream.reply({ text })
  const body = { name, text: 'News?', cron: '0 8 1 1 *', device_id: device }
  const { id } = (await call<Schedule>('POST', '/schedules', body)).json()
  await call('POST', `/schedules/${id}/run`)
  await app.runsEnded()
}

test('a board with an open socket speaks a result by itself, once', async () => {
  const { socket, id } = await greetedBoard(app, devices)
  await runFor(id, 'first', '早上好。今天晴。')
  await app.runs.deliver()
  await socket.next('tts', 'stop')
  expect(sentences(socket)).toEqual(['早上好。', '今天晴。'])
  await app.runs.deliver()
  ask(socket, '你好')
  upstream.reply({ text: '在。' })
  await socket.next('tts', 'stop')
  expect(sentences(socket)).toEqual(['早上好。', '今天晴。', '在。'])
  await socket.close()
})

test('a board that was away hears a result before its next answer', async () => {
  const { board, id, socket: first } = await greetedBoard(app, devices)
  await first.close()
  await runFor(id, 'second', '记得喝水。')
  const { openSocket } = await import('../../scripts/device/board.ts')
  const { websocket } = await board.start()
  const socket = await openSocket(websocket)
  ask(socket, '你好')
  await socket.next('hello')
  upstream.reply({ text: '在。' })
  await socket.next('tts', 'stop')
  expect(sentences(socket)[0]).toBe('记得喝水。')
  await socket.close()
})

test('a result interrupted before a sound is heard before the next answer', async () => {
  const { socket, id } = await greetedBoard(app, devices)
  upstream.speech.reply({ hangAfter: 0 })
  await runFor(id, 'third', '七点了。')
  await app.runs.deliver()
  await upstream.nextRequest('/audio/speech')
  socket.send({ type: 'abort' })
  await socket.next('tts', 'stop')
  await app.jobs.idle()
  upstream.reply({ text: '在。' })
  ask(socket, '你好')
  await socket.next('tts', 'stop')
  expect(sentences(socket)).toEqual(['七点了。', '在。'])
  await app.runs.deliver()
  ask(socket, '再见')
  upstream.reply({ text: '好。' })
  await socket.next('tts', 'stop')
  expect(sentences(socket)).toEqual(['七点了。', '在。', '好。'])
  await socket.close()
})

test('whoever speaks to a board is not cut off by a result', async () => {
  const { socket, id } = await greetedBoard(app, devices)
  await runFor(id, 'fourth', '下雨了。')
  upstream.transcriptions.reply({ text: '你好' })
  upstream.reply({ text: '在。' })
  socket.send({ type: 'listen', state: 'start', mode: 'manual' })
  await socket.speak(voice(1))
  // Messages of a socket are read in order: its answer says that the board is listened to.
  socket.send({ type: 'hello' })
  await socket.next('hello')
  await app.runs.deliver()
  expect(socket.heard.filter(({ type }) => type === 'tts')).toEqual([])
  socket.send({ type: 'listen', state: 'stop' })
  await socket.next('tts', 'stop')
  expect(sentences(socket)).toEqual(['下雨了。', '在。'])
  await socket.close()
})

test('a board with an open socket says a sentence that somebody sends', async () => {
  const { socket, id } = await greetedBoard(app, devices)
  await call('POST', `/devices/${id}/say`, { text: '晚饭好了。' })
  await app.runs.deliver()
  await socket.next('tts', 'stop')
  expect(sentences(socket)).toEqual(['晚饭好了。'])
  await socket.close()
})
