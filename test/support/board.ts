import { type BoardIdentity, createBoard } from '../../scripts/device/board.ts'
import type { TestApp } from './app.ts'

let boards = 0

/** A board of its own, that has not started yet. */
export function startingBoard(app: Pick<TestApp, 'url'>, identity: Partial<BoardIdentity> = {}) {
  const number = String(++boards).padStart(4, '0')
  const mac = `AA:BB:CC:DD:${number.slice(0, 2)}:${number.slice(2)}`
  return createBoard(app.url, { mac, clientId: crypto.randomUUID(), ...identity })
}
