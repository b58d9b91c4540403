import type { FileBytes } from '../../channels/ports/parser.ts'

/** Where uploads and pages wait to be read: one private file a source (data-folder/spool.ts). */
export interface Spool {
  /** The ids of the files that an earlier server left behind. */
  readonly found: readonly string[]
  /** On the disk when it resolves with the size; nothing is left when it rejects. */
  write(id: string, bytes: AsyncIterable<Uint8Array>): Promise<number>
  /** The bytes of a file that is not empty, of which only those are loaded that are looked at. */
  map(id: string): Uint8Array
  /** Where a file lies, for the process that reads it. */
  file(id: string): FileBytes
  has(id: string): boolean
  remove(id: string): void
}
