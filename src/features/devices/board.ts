import { hmacHex, sha256Hex } from '../../core/crypto.ts'
import type { KeySecret } from '../keys/service.ts'

/** A xiaozhi board as it reports itself at each start. */
export interface Board {
  /** Lower case. */
  readonly mac: string
  /** A UUID that the board generated; together with the MAC it authenticates the board. */
  readonly clientId: string
  /** The kind of board, such as `bread-compact-wifi`. */
  readonly type: string | null
  readonly firmware: string | null
}

/** Identifies a board among those that are connected or wait. */
export const boardKey = ({ mac, clientId }: Board): string => `${mac} ${clientId}`

/** A board as it is stored. */
export interface StoredBoard {
  readonly mac: string
  readonly clientHash: string
}

/** The board in its stored form. */
export const storedBoard = ({ mac, clientId }: Board): StoredBoard => ({
  mac,
  clientHash: sha256Hex(clientId),
})

/**
 * Derives the secret of a board's key from the key's id, so that the board gets the same key at
 * every start. A new key has a new id and so another secret.
 */
export const secretOfBoard =
  (sessionKey: Uint8Array, { mac, clientId }: Board, deviceId: string): KeySecret =>
  (keyId) =>
    hmacHex(sessionKey, [deviceId, mac, clientId, keyId].join('\n'))
