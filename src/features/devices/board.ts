import { hmacHex, sha256Hex } from '../../core/crypto.ts'
import type { KeySecret } from '../keys/service.ts'

/** What a xiaozhi board says of itself at each start (contract 2, 4.1). */
export interface Board {
  /** Lower case. */
  readonly mac: string
  /** The UUID that the board has made for itself; whoever knows it and the MAC is the board. */
  readonly clientId: string
  /** The kind of board, such as `bread-compact-wifi`. */
  readonly type: string | null
  readonly firmware: string | null
}

/** The same board has the same one. */
export const boardKey = ({ mac, clientId }: Board): string => `${mac} ${clientId}`

/** A board as it is stored. */
export interface StoredBoard {
  readonly mac: string
  readonly clientHash: string
}

/** What is stored of a board. */
export const storedBoard = ({ mac, clientId }: Board): StoredBoard => ({
  mac,
  clientHash: sha256Hex(clientId),
})

/**
 * The secret of a board's key by the key's id, derived so that the same key can be told at every
 * start of the board (contract 2, 4.2). A new key has a new id and so another secret.
 */
export const secretOfBoard =
  (sessionKey: Uint8Array, { mac, clientId }: Board, deviceId: string): KeySecret =>
  (keyId) =>
    hmacHex(sessionKey, [deviceId, mac, clientId, keyId].join('\n'))
