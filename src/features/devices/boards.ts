import type { Clock } from '../../core/clock.ts'
import { appError } from '../../core/errors.ts'
import { KEYS_MAX } from '../../core/limits/machine.ts'
import type { Keys } from '../keys/service.ts'
import { scopeOf } from './activation.ts'
import { type Board, secretOfBoard, storedBoard } from './board.ts'
import type { BoardStore, BoundDevice } from './board-store.ts'
import { hashOfInput } from './code.ts'
import type { ActivationStore, LastSeen } from './store.ts'
import type { WaitingBoard, WaitingBoards } from './waiting.ts'

export interface BoardsOptions {
  readonly store: BoardStore
  readonly activation: Pick<ActivationStore, 'activate' | 'heartbeat'>
  readonly keys: Pick<Keys, 'mint' | 'ofSecret'>
  readonly waiting: Pick<WaitingBoards, 'ask'>
  readonly clock: Clock
  /** The keys of boards are derived from it. */
  readonly secret: Uint8Array
  /**
   * Counts an attempt of a client address, together with its activations. Throws
   * `rate_limited_activation` when there were too many.
   */
  readonly takeTry: (address: string) => Promise<void>
  readonly onSeen: (seen: LastSeen) => void
}

/** A request of a board. */
export interface BoardCall {
  readonly board: Board
  /** The activation code in the URL that the board calls; null when there is none. */
  readonly code: string | null
}

/** The answer to a board that starts: its key, or the digits that it shows. */
export type BoardState =
  | { readonly key: string }
  | { readonly key: null; readonly waiting: WaitingBoard }

/** Redeems the codes of stock boards, and recognises the boards afterwards. */
export function createBoards(options: BoardsOptions) {
  const { store, activation, keys, waiting, clock, secret, takeTry, onSeen } = options

  /** The device of a code, or of the board itself. */
  async function find({ board, code }: BoardCall): Promise<BoundDevice | null> {
    if (code === null) return store.ofBoard(storedBoard(board))
    const hash = hashOfInput(code)
    return hash === null ? null : store.ofCode(hash)
  }

  /** Derives the key of the device again. The session secret may have changed meanwhile. */
  async function keyOf(device: BoundDevice, board: Board): Promise<string> {
    const { id, tenant_id: tenantId, key_id: keyId } = device
    const { key, hash, tail } = keys.ofSecret(secretOfBoard(secret, board, id)(keyId ?? ''))
    if (hash !== device.key_hash) await store.renewKey(device, hash, tail)
    const seen = { tenantId, deviceId: id, at: clock.iso() }
    const { type: hw_model, firmware } = board
    const isKnown =
      [null, device.hw_model].includes(hw_model) && [null, device.firmware].includes(firmware)
    if (isKnown) onSeen(seen)
    else await activation.heartbeat(seen, { hw_model, firmware })
    return key
  }

  /** Spends the code for this board. Throws `activation_code_wrong` when it cannot be spent. */
  async function redeem(codeHash: string, board: Board): Promise<string> {
    const device = await store.ofCode(codeHash)
    if (!device) throw appError('activation_code_wrong')
    const { id, tenant_id: tenantId } = device
    const { row } = keys.mint(tenantId, scopeOf(device), secretOfBoard(secret, board, id))
    await activation.activate(codeHash, row, KEYS_MAX, clock.iso(), storedBoard(board))
    // Another request may have spent the code. If it was the same board's, the board is paired.
    const now = await store.ofCode(codeHash)
    if (now && isOf(now, board)) return keyOf(now, board)
    throw appError('activation_code_wrong')
  }

  return {
    /**
     * Answers a board that starts; `address` is the client's, as limits count addresses. Throws
     * `activation_code_wrong` for a code of another board, and `rate_limited_activation` for an
     * address with too many attempts.
     */
    async start(call: BoardCall, address: string): Promise<BoardState> {
      const { board, code } = call
      const device = await find(call)
      if (device && isOf(device, board)) return { key: await keyOf(device, board) }
      if (code === null) return { key: null, waiting: await waiting.ask(board, address) }
      // A spent code only identifies a device, so guessing one gains nothing.
      if (device?.key_id) throw appError('activation_code_wrong')
      await takeTry(address)
      const hash = hashOfInput(code)
      if (device === null || hash === null) throw appError('activation_code_wrong')
      return { key: await redeem(hash, board) }
    },

    /** Whether the board is paired; it polls this while it shows its digits. */
    async isPaired(call: BoardCall): Promise<boolean> {
      const device = await find(call)
      return device !== null && isOf(device, call.board)
    },
  }
}

export type Boards = ReturnType<typeof createBoards>

/** Whether the device belongs to this board and has a valid key. */
function isOf(device: BoundDevice, board: Board): boolean {
  const { mac, clientHash } = storedBoard(board)
  return device.key_hash !== null && device.mac === mac && device.client_hash === clientHash
}
