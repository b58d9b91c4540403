import type { Clock } from '../../core/clock.ts'
import { ACTIVATION_CODE_TTL_MS, WAITING_BOARDS_MAX } from '../../core/limits/contract.ts'
import { type Board, boardKey } from './board.ts'

/** A board that nobody has paired yet, and the digits that it shows and speaks. */
export interface WaitingBoard {
  readonly board: Board
  readonly digits: string
  readonly challenge: string
  /** Epoch milliseconds. */
  readonly until: number
  /** The client address it asked from, as limits count addresses. */
  readonly address: string
}

export interface WaitingOptions {
  readonly clock: Pick<Clock, 'now'>
  /** Six digits, every six equally likely. */
  readonly digits: () => string
  readonly challenge: () => string
}

/**
 * Boards that wait to be paired by their six digits. They live in memory: after a restart a board
 * asks again and gets fresh digits. When too many wait, the oldest of the address with the most go,
 * so that one stranger who invents boards displaces only their own.
 */
export function createWaitingBoards({ clock, digits, challenge }: WaitingOptions) {
  // In order of their arrival, which is also that of their end.
  const byBoard = new Map<string, WaitingBoard>()
  const byDigits = new Map<string, WaitingBoard>()
  const perAddress = new Map<string, number>()

  function remove(waiting: WaitingBoard): void {
    byBoard.delete(boardKey(waiting.board))
    byDigits.delete(waiting.digits)
    const left = (perAddress.get(waiting.address) ?? 1) - 1
    if (left > 0) perAddress.set(waiting.address, left)
    else perAddress.delete(waiting.address)
  }

  function removeEnded(): void {
    for (const waiting of byBoard.values()) {
      if (waiting.until > clock.now()) return
      remove(waiting)
    }
  }

  function makeRoom(): void {
    if (byBoard.size < WAITING_BOARDS_MAX) return
    const [busiest] = [...perAddress].reduce((a, b) => (b[1] > a[1] ? b : a))
    for (const waiting of byBoard.values()) {
      if (waiting.address !== busiest) continue
      remove(waiting)
      return
    }
  }

  function freshDigits(): string {
    for (;;) {
      const tried = digits()
      if (!byDigits.has(tried)) return tried
    }
  }

  function add(waiting: WaitingBoard): WaitingBoard {
    makeRoom()
    byBoard.set(boardKey(waiting.board), waiting)
    byDigits.set(waiting.digits, waiting)
    perAddress.set(waiting.address, (perAddress.get(waiting.address) ?? 0) + 1)
    return waiting
  }

  return {
    /** The same digits for a board until they end. */
    ask(board: Board, address: string): WaitingBoard {
      removeEnded()
      const known = byBoard.get(boardKey(board))
      if (known) return known
      const until = clock.now() + ACTIVATION_CODE_TTL_MS
      return add({ board, digits: freshDigits(), challenge: challenge(), until, address })
    },

    /** The board that shows these digits. */
    find(shown: string): WaitingBoard | null {
      removeEnded()
      return byDigits.get(shown) ?? null
    },

    remove,
    /** Puts a removed board back, with the digits that it shows. */
    add,
  }
}

export type WaitingBoards = ReturnType<typeof createWaitingBoards>
