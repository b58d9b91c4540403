import { createTtlMap } from '../../../core/bounded-maps.ts'
import { type Clock, MINUTE_MS } from '../../../core/clock.ts'
import { dot } from '../../../core/vector.ts'
import type { VectorIndex, VectorSpace } from '../../../storage/indexes.ts'
import type { KbStore } from '../index/store.ts'

/** Passages that are compared with each other: 496 pairs. */
const SAMPLE = 32
/** With fewer passages there is no calibration. */
const SAMPLE_MIN = 20
const KEPT_MS = 10 * MINUTE_MS
const TENANTS_MAX = 1_000

/** Cosines of pairs of passages of the retrieval sample by the shipped model. */
const SHIPPED = { mean: 0.04, spread: 0.08 }

export interface CalibrationParts {
  readonly store: KbStore
  readonly vectors: VectorIndex
  readonly clock: Clock
}

/**
 * Maps the cosines of an unknown model to the scale of the shipped one. Models differ in the cosine
 * of unrelated texts, from 0 to 0.8. It is measured on pairs of the tenant's own passages, which
 * are mostly unrelated. Null when the tenant has too few passages.
 */
export function createCalibration({ store, vectors, clock }: CalibrationParts) {
  const known = createTtlMap<typeof SHIPPED>(clock, KEPT_MS, TENANTS_MAX)

  return async function calibrationOf(
    space: VectorSpace,
    dimensions: number,
    signal?: AbortSignal,
  ): Promise<((cosine: number) => number) | null> {
    const name = JSON.stringify(space)
    const own = known.get(name) ?? (await measure(space, dimensions, signal))
    if (!own) return null
    known.set(name, own)
    return (cosine) => SHIPPED.mean + (SHIPPED.spread * (cosine - own.mean)) / own.spread
  }

  async function measure(space: VectorSpace, dimensions: number, signal?: AbortSignal) {
    const { tenantId, collections = null } = space
    const keys = await store.someKeys({ tenantId, collections }, SAMPLE)
    const found = await vectors.read(space, dimensions, keys, signal)
    if (found.length < SAMPLE_MIN) return null
    const cosines = found.flatMap((a, i) => found.slice(0, i).map((b) => dot(a, b)))
    const mean = cosines.reduce((sum, x) => sum + x, 0) / cosines.length
    const square = cosines.reduce((sum, x) => sum + (x - mean) ** 2, 0) / cosines.length
    return square > 0 ? { mean, spread: Math.sqrt(square) } : null
  }
}

export type CalibrationOf = ReturnType<typeof createCalibration>
