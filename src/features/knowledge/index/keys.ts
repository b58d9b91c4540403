import { KEYS_PER_DOC } from '../../../storage/indexes.ts'

/** The key of a chunk in both indexes. */
export const keyOf = (num: number, seq: number) => num * KEYS_PER_DOC + seq

/** What the keys of a document are counted by. */
export interface StoredDoc {
  readonly num: number
  readonly chunk_count: number
}

/** The keys of all chunks of a document. */
export const keysOf = ({ num, chunk_count }: StoredDoc): number[] =>
  Array.from({ length: chunk_count }, (_, seq) => keyOf(num, seq))

/** The number of a chunk in its document. */
export const seqOf = (key: number) => key % KEYS_PER_DOC
