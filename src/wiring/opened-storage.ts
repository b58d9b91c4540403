import type { Logger } from '../core/log.ts'
import type { ListReader, Reader, StoredDb } from '../storage/db.ts'
import type { TurnIndex, VectorIndex, WordIndex } from '../storage/indexes.ts'
import type { SharedState } from '../storage/shared-state.ts'

/** An encrypted value that the console has set for the whole server. */
export interface SealedSetting {
  readonly name: string
  readonly value_sealed: Uint8Array
}

/** The database and its search indexes. */
export interface OpenedStorage {
  readonly db: StoredDb
  /** Runs what a turn waits for: the search of the knowledge base. */
  readonly reader: Reader & { close(): Promise<void> }
  /** Runs lists, sums and searches that people ask for, so that no turn waits behind them. */
  readonly scans: ListReader & { close(): Promise<void> }
  readonly vectors: VectorIndex
  readonly words: WordIndex
  readonly turnIndex: TurnIndex
  /** The state that all servers of the database share. Closed by the caller, before `db`. */
  openShared(log: Logger): Promise<SharedState>
  /** The number of the next document, where several processes store documents. */
  readonly nextNum?: () => Promise<number>
}
