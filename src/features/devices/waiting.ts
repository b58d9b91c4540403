import { hmacHex } from '../../core/crypto.ts'
import { ACTIVATION_CODE_TTL_MS, WAITING_BOARDS_MAX } from '../../core/limits/contract.ts'
import type { OpenCodes } from '../../storage/shared-state.ts'
import { type Board, boardKey } from './board.ts'

/** A board that is not paired yet, and the digits that it shows and speaks. */
export interface WaitingBoard {
  readonly board: Board
  readonly digits: string
  readonly challenge: string
  /** The client address it asked from, as limits count addresses. */
  readonly address: string
  /** Digits and challenge are derived from it. */
  readonly nonce: string
}

export interface WaitingOptions {
  readonly openCodes: OpenCodes
  /** The digits of boards are derived from it; only their hash is stored. */
  readonly secret: Uint8Array
  /** Fresh for each board that begins to wait. */
  readonly nonce: () => string
}

/**
 * Boards that wait to be paired by their six digits. When too many wait, the address with the most
 * loses its oldest, so that many invented boards of one address displace each other first.
 */
export function createWaitingBoards({ openCodes, secret, nonce: fresh }: WaitingOptions) {
  const life = { ttlMs: ACTIVATION_CODE_TTL_MS, countMax: WAITING_BOARDS_MAX }
  /** The nonce of each board, from which its digits are derived. */
  const nonces = openCodes('waiting board', life)
  /** Boards by the hash of their digits. */
  const boards = openCodes('pairing digits', life)

  const nameOf = (board: Board) => hmacHex(secret, boardKey(board))
  const hashOf = (digits: string) => hmacHex(secret, `digits\n${digits}`)

  function waitingOf(board: Board, address: string, nonce: string): WaitingBoard {
    const derived = (what: string) => hmacHex(secret, [what, boardKey(board), nonce].join('\n'))
    // From 48 bits, the bias towards some digits is below a billionth.
    const digits = String(Number.parseInt(derived('shown').slice(0, 12), 16) % 1_000_000)
    const challenge = derived('challenge').slice(0, 32)
    return { board, digits: digits.padStart(6, '0'), challenge, address, nonce }
  }

  async function add(waiting: WaitingBoard): Promise<void> {
    const { board, digits, address, nonce } = waiting
    await nonces.put(nameOf(board), nonce, address)
    await boards.put(hashOf(digits), JSON.stringify({ board, address, nonce }), address)
  }

  async function begin(board: Board, address: string): Promise<WaitingBoard> {
    for (;;) {
      const waiting = waitingOf(board, address, fresh())
      if ((await boards.read(hashOf(waiting.digits))) !== null) continue
      await add(waiting)
      return waiting
    }
  }

  function boardIn(value: string | null): WaitingBoard | null {
    if (value === null) return null
    const { board, address, nonce } = JSON.parse(value) as WaitingBoard
    return waitingOf(board, address, nonce)
  }

  return {
    /** The waiting board; its digits stay the same until they expire. */
    async ask(board: Board, address: string): Promise<WaitingBoard> {
      const nonce = await nonces.read(nameOf(board))
      return nonce === null ? begin(board, address) : waitingOf(board, address, nonce)
    },

    /** The board that shows these digits. */
    find: async (digits: string) => boardIn(await boards.read(hashOf(digits))),

    /** The same, and removes it; of simultaneous calls only one gets it. */
    async take(digits: string): Promise<WaitingBoard | null> {
      const taken = boardIn(await boards.take(hashOf(digits)))
      if (!taken) return null
      // Two simultaneous starts of a board make two codes; the last one that it was sent is valid.
      return (await nonces.take(nameOf(taken.board))) === taken.nonce ? taken : null
    },

    /** Puts a board back that was taken, with the digits that it shows. */
    add,
  }
}

export type WaitingBoards = ReturnType<typeof createWaitingBoards>
