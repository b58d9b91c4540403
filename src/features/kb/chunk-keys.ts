/** Chunks a document may have: far more than a document of the greatest size has. */
const CHUNKS_PER_DOC_MAX = 1024

/** A chunk as both indexes know it. */
export const keyOf = (num: number, seq: number) => num * CHUNKS_PER_DOC_MAX + seq
export const seqOf = (key: number) => key % CHUNKS_PER_DOC_MAX
export const numOf = (key: number) => Math.floor(key / CHUNKS_PER_DOC_MAX)
