import { dlopen, FFIType, ptr } from 'bun:ffi'
import { KEYS_PER_DOC } from '../../src/storage/indexes.ts'
import { openIndexes } from '../../test/support/indexes.ts'
import { tempFolder } from '../../test/support/temp.ts'
import type { Row } from './report.ts'
import { alternate } from './rounds.ts'
import { median } from './stats.ts'

const DIMENSIONS = 768
const TENANTS = 20
const CHUNKS = 10_000
const BATCH = 500
const QUERIES = 9
/** Unmeasured searches of each tenant: the first ones read new data from the disk. */
const WARM_UP = 2
const LIMIT = 50

/** The lower bound: one pass over the same vectors with SIMD instructions. */
const SCAN_C = `float scan(const float *q, const float *v, long n, long d) {
  float best = -9;
  for (long r = 0; r < n; r++) {
    float s = 0;
    for (long i = 0; i < d; i++) s += q[i] * v[r * d + i];
    if (s > best) best = s;
  }
  return best;
}`

/** Nearest-chunk search of one tenant among many, as a ratio to a bare scan of its vectors. */
export async function measureScan(rounds: number): Promise<Row[]> {
  using folder = tempFolder()
  await using indexes = await openIndexes(folder.path)
  const vectors = randomVectors(CHUNKS)
  const inserts: number[] = []
  for (let tenant = 0; tenant < TENANTS; tenant++) {
    const space = { tenantId: `t${tenant}`, model: 'bench' }
    for (let from = 0; from < CHUNKS; from += BATCH) {
      const entries = Array.from({ length: BATCH }, (_, i) => ({
        key: (1 + (tenant * CHUNKS + from) / BATCH) * KEYS_PER_DOC + i,
        vector: row(vectors, from + i),
      }))
      const begin = performance.now()
      await indexes.db.batch(indexes.vectors.upsert(space, entries))
      inserts.push((BATCH / (performance.now() - begin)) * 1_000)
    }
  }
  const floor = await openFloor(folder.file('scan'))
  const query = (i: number) => row(vectors, (i * 37) % CHUNKS)
  let longest = 0
  for (let i = 0; i < TENANTS * WARM_UP; i++) {
    await indexes.vectors.search({ tenantId: `t${i % TENANTS}`, model: 'bench' }, query(i), LIMIT)
  }
  const results = await alternate(rounds, {
    search: () =>
      timed(async (i) => {
        const space = { tenantId: `t${i % TENANTS}`, model: 'bench' }
        const begin = performance.now()
        const found = indexes.vectors.search(space, query(i), LIMIT)
        longest = Math.max(longest, performance.now() - begin)
        await found
      }),
    floor: () => timed(async (i) => void floor.scan(query(i), vectors)),
  })
  return [
    {
      measure: `nearest of ${CHUNKS} chunks among ${TENANTS * CHUNKS}, ${DIMENSIONS}-d`,
      unit: 'ms',
      product: results.search,
      reference: { name: floor.name, values: results.floor },
      target: { atMost: 10 },
    },
    {
      measure: 'event loop held by a search, at most',
      unit: 'ms',
      product: [longest],
      reference: { name: '', values: [] },
      target: { atMost: 5 },
      absolute: true,
    },
    {
      measure: 'vectors stored',
      unit: '1/s',
      product: [median(inserts)],
      reference: { name: '', values: [] },
      target: null,
    },
  ]
}

const row = (vectors: Float32Array, at: number) =>
  vectors.subarray(at * DIMENSIONS, (at + 1) * DIMENSIONS)

function randomVectors(count: number): Float32Array {
  let state = 12_345
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32 - 0.5
  }
  const vectors = Float32Array.from({ length: count * DIMENSIONS }, next)
  for (let r = 0; r < count; r++) {
    const one = row(vectors, r)
    const length = Math.hypot(...one)
    for (let d = 0; d < DIMENSIONS; d++) one[d] = (one[d] ?? 0) / length
  }
  return vectors
}

async function timed(work: (i: number) => Promise<void>): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < QUERIES; i++) {
    const begin = performance.now()
    await work(i)
    times.push(performance.now() - begin)
  }
  return median(times)
}

/** The scan is C where the machine has a compiler, else JavaScript. */
async function openFloor(path: string) {
  await Bun.write(`${path}.c`, SCAN_C)
  const flags = ['-O3', '-march=native', '-ffast-math', '-shared', '-fPIC']
  const gcc = Bun.which('gcc')
  const compiled =
    gcc !== null &&
    Bun.spawnSync([gcc, ...flags, '-o', `${path}.so`, `${path}.c`], { stderr: 'ignore' }).success
  if (!compiled) return { name: 'JavaScript scan', scan: scanHere }
  const { symbols } = dlopen(`${path}.so`, {
    scan: {
      args: [FFIType.ptr, FFIType.ptr, FFIType.i64, FFIType.i64],
      returns: FFIType.f32,
    },
  })
  const scan = (query: Float32Array, vectors: Float32Array) =>
    symbols.scan(ptr(query), ptr(vectors), BigInt(CHUNKS), BigInt(DIMENSIONS))
  return { name: 'C scan', scan }
}

function scanHere(query: Float32Array, vectors: Float32Array): number {
  let best = -9
  for (let r = 0; r < CHUNKS; r++) {
    let sum = 0
    for (let d = 0; d < DIMENSIONS; d++) {
      sum += (query[d] as number) * (vectors[r * DIMENSIONS + d] as number)
    }
    if (sum > best) best = sum
  }
  return best
}
