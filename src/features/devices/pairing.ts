import type { Clock } from '../../core/clock.ts'
import { newId, sha256Hex } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import { DEVICES_MAX } from '../../core/limits/contract.ts'
import { KEYS_MAX } from '../../core/limits/machine.ts'
import type { Keys, Maker } from '../keys/service.ts'
import { secretOfBoard, storedBoard } from './board.ts'
import type { BoardStore } from './board-store.ts'
import { newCode } from './code.ts'
import type { Device, DevicePairRequest, WaitingBoardResponse } from './model.ts'
import type { Devices } from './service.ts'
import type { WaitingBoard, WaitingBoards } from './waiting.ts'

export interface PairingOptions {
  readonly store: Pick<BoardStore, 'insert'>
  readonly devices: Pick<Devices, 'read' | 'list'>
  readonly keys: Pick<Keys, 'limitsWithin' | 'mint'>
  readonly waiting: WaitingBoards
  readonly clock: Clock
  readonly random: (bytes: number) => Uint8Array
  /** The keys of boards are derived from it. */
  readonly secret: Uint8Array
  /**
   * Counts the wrong digits of a tenant: `reserve` counts a guess in advance, `giveBack` undoes
   * that when it was right. `reserve` throws `rate_limited_activation` after too many.
   */
  readonly guesses: {
    reserve(tenantId: string): Promise<void>
    giveBack(tenantId: string): Promise<void>
  }
}

/** Binds boards by the six digits that they show. */
export function createPairing(options: PairingOptions) {
  const { store, devices, keys, waiting, clock, random, secret, guesses } = options

  /** Throws `pairing_code_wrong`, which counts as a guess. */
  async function guess(tenantId: string, find: () => Promise<WaitingBoard | null>) {
    // Counted before it is judged, so that simultaneous guesses cannot exceed the limit.
    await guesses.reserve(tenantId)
    const found = await find()
    if (!found) throw appError('pairing_code_wrong')
    await guesses.giveBack(tenantId)
    return found
  }

  /** Null when the tenant has no room for a device or a key. */
  async function insert(maker: Maker, { board }: WaitingBoard, request: DevicePairRequest) {
    const { tenantId, keyId: madeBy } = maker
    const limits = await keys.limitsWithin(maker, {})
    const { name, app_id: appId } = request
    const { type: hwModel, firmware } = board
    const [id, createdAt] = [newId(), clock.iso()]
    const scope = { deviceId: id, madeBy, ...limits }
    const { row } = keys.mint(tenantId, scope, secretOfBoard(secret, board, id))
    const device = {
      id,
      tenantId,
      name,
      appId,
      hwModel,
      firmware,
      madeBy,
      createdAt,
      // The hash of a code that is never shown.
      codeHash: sha256Hex(newCode(random)),
      ...storedBoard(board),
    }
    const most = { devices: DEVICES_MAX, keys: KEYS_MAX }
    return (await store.insert(device, row, most)) ? id : null
  }

  return {
    /**
     * The board that shows these digits, so that its owner recognises it. Throws as `pair` does.
     */
    async waitingBoard(tenantId: string, digits: string): Promise<WaitingBoardResponse> {
      const { board } = await guess(tenantId, () => waiting.find(digits))
      return { board: board.type, mac_tail: board.mac.replace(/[^0-9a-z]/g, '').slice(-4) }
    },

    /**
     * Binds the board that shows these digits. Throws `pairing_code_wrong`, after ten of them in an
     * hour `rate_limited_activation`, and `quota_devices` or `quota_keys`.
     */
    async pair(maker: Maker, request: DevicePairRequest): Promise<Device> {
      const { tenantId } = maker
      // Taken, not read: another person may have seen the same digits on the board.
      const found = await guess(tenantId, () => waiting.take(request.code))
      try {
        const id = await insert(maker, found, request)
        if (id !== null) return await devices.read(tenantId, id)
      } catch (error) {
        await waiting.add(found)
        throw error
      }
      await waiting.add(found)
      const { devices: all } = await devices.list(tenantId)
      throw all.length >= DEVICES_MAX
        ? appError('quota_devices', { max: DEVICES_MAX })
        : appError('quota_keys', { max: KEYS_MAX })
    },
  }
}

export type Pairing = ReturnType<typeof createPairing>
