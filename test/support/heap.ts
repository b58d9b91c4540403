import { heapStats } from 'bun:jsc'

/** Bytes of the heap that what `make` returns keeps. */
export function heapBytesOf<Kept>(make: () => Kept): {
  readonly bytes: number
  readonly kept: Kept
} {
  Bun.gc(true)
  const before = heapStats().heapSize
  const kept = make()
  Bun.gc(true)
  return { bytes: heapStats().heapSize - before, kept }
}
