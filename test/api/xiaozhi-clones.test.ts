import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../support/app.ts'
import { startingBoard } from '../support/board.ts'
import { fakeClock } from '../support/clock.ts'
import { type DeviceClient, deviceClient } from '../support/devices.ts'

let app: TestApp
let devices: DeviceClient
const clock = fakeClock()

beforeAll(async () => {
  app = await startApp({ clock })
  devices = deviceClient(app, await app.key())
})
afterAll(() => app[Symbol.asyncDispose]())

async function paired() {
  const { code } = await devices.register()
  const board = startingBoard(app)
  return { board, token: (await board.start(code)).websocket.token }
}

test('who pairs a board of another tenant under its name does not get its next start', async () => {
  const { board: one, token } = await paired()
  const stranger = deviceClient(app, await app.key('clone@example.com'))
  clock.advance(1_000)
  const { id, code } = await stranger.register()
  const clone = startingBoard(app, { mac: one.mac, clientId: one.clientId })
  const theirs = (await clone.start(code)).websocket.token
  expect(theirs).not.toBe(token)
  expect((await one.start()).websocket.token).toBe(token)
  // Whoever has the code in the address is paired by it.
  expect((await clone.start(code)).websocket.token).toBe(theirs)
  expect((await stranger.call('DELETE', `/${id}`)).status).toBe(200)
  expect((await one.start()).websocket.token).toBe(token)
})

test('a board that its tenant pairs as another device becomes that one', async () => {
  const { board: one, token } = await paired()
  clock.advance(1_000)
  const { code } = await devices.register()
  const later = (await one.start(code)).websocket.token
  expect(later).not.toBe(token)
  expect((await one.start()).websocket.token).toBe(later)
})
