import {
  type BoardIdentity,
  type BoardSocket,
  createBoard,
  openSocket,
  type SocketOptions,
} from '../../scripts/device/board.ts'
import type { TestApp } from './app.ts'
import type { DeviceClient } from './devices.ts'

let boards = 0

/** A board of its own, that has not started yet. */
export function startingBoard(app: Pick<TestApp, 'url'>, identity: Partial<BoardIdentity> = {}) {
  const number = String(++boards).padStart(4, '0')
  const mac = `AA:BB:CC:DD:${number.slice(0, 2)}:${number.slice(2)}`
  return createBoard(app.url, { mac, clientId: crypto.randomUUID(), ...identity })
}

/** A paired board whose hello was answered. Behind a proxy each has an address of its own. */
export async function greetedBoard(
  app: Pick<TestApp, 'url'>,
  devices: Pick<DeviceClient, 'register'>,
  options: SocketOptions = {},
  fields: object = {},
) {
  const { id, code } = await devices.register(fields)
  const headers = { 'x-forwarded-for': `10.1.${boards >> 8}.${boards & 255}` }
  const board = startingBoard(app, { headers })
  const { websocket } = await board.start(code)
  const socket = await openSocket(websocket, options)
  const hello = await socket.next('hello')
  return { id, code, board, websocket, socket, hello }
}

/** Types a question. */
export const ask = (socket: BoardSocket, text: string) =>
  socket.send({ type: 'listen', state: 'detect', text })

/** Syllables of a voice, four a second, and silence after them: 16 kHz. */
export function voice(seconds: number, after = 1.5): Int16Array {
  const samples = new Int16Array(16_000 * (seconds + after))
  for (let i = 0; i < 16_000 * seconds; i++) {
    const syllable = Math.max(0.02, Math.sin((Math.PI * 4 * i) / 16_000) ** 2)
    const tones = Math.sin((i * Math.PI * 500) / 16_000) + Math.sin((i * Math.PI * 900) / 16_000)
    samples[i] = 6_000 * syllable * tones
  }
  return samples
}
