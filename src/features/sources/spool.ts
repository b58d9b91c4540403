/** Where uploads and pages wait to be read: one private file a source (data-folder/spool.ts). */
export interface Spool {
  /** The ids of the files that an earlier server left behind. */
  readonly found: readonly string[]
  /** On the disk when it resolves with the size; nothing is left when it rejects. */
  write(id: string, bytes: AsyncIterable<Uint8Array>): Promise<number>
  /** The bytes of a file that is not empty. */
  read(id: string): Uint8Array
  has(id: string): boolean
  remove(id: string): void
}
