import { statSync } from 'node:fs'
import { sql } from '../../src/storage/db.ts'
import { KEYS_PER_DOC } from '../../src/storage/indexes.ts'
import { openIndexes } from '../../test/support/indexes.ts'
import { tempFolder } from '../../test/support/temp.ts'
import type { Row } from './report.ts'
import { median } from './stats.ts'

const SIZES = [
  { passages: 10_000, atMostMs: 9 },
  { passages: 100_000, atMostMs: 20 },
  { passages: 1_000_000, atMostMs: 150 },
] as const
const DIMENSIONS = 768
/** Passages of a document. */
const PASSAGES = 200
/** Words of a passage, of a vocabulary in which few words are frequent (Zipf). */
const WORDS = 150
const VOCABULARY = 200_000
/** Words of a question, without function words. */
const ASKED = 8
const SAYING_NOTHING = 100
const QUERIES = 25
const LIMIT = 60
const SPACE = { tenantId: 'tenant', model: 'bench' }

/** Both indexes of a knowledge base, searched side by side as a turn does, by their size. */
export async function benchPassages(): Promise<Row[]> {
  using folder = tempFolder()
  await using indexes = await openIndexes(folder.path)
  await indexes.db.run(sql`INSERT INTO tenant (id, created_at) VALUES (${SPACE.tenantId}, '')`)
  const random = randomNumbers()
  const rows: Row[] = []
  let stored = 0
  for (const { passages, atMostMs } of SIZES) {
    process.stderr.write(`storing ${passages} passages ...\n`)
    const begin = performance.now()
    const before = stored
    for (; stored < passages; stored += PASSAGES) {
      const entries = Array.from({ length: PASSAGES }, (_, i) => ({
        key: (1 + stored / PASSAGES) * KEYS_PER_DOC + i,
        vector: unitVector(random),
        terms: words(random, WORDS),
      }))
      await indexes.db.batch([
        docOf(stored / PASSAGES),
        ...indexes.vectors.upsert(SPACE, entries),
        ...indexes.words.upsert(SPACE.tenantId, entries),
      ])
    }
    const rate = ((stored - before) / (performance.now() - begin)) * 1_000
    const held: number[] = []
    const times = { vectors: [] as number[], words: [] as number[], both: [] as number[] }
    for (let i = 0; i < QUERIES; i++) {
      const question = unitVector(random)
      const asked = words(random, ASKED, SAYING_NOTHING)
      const search = {
        vectors: () => indexes.vectors.search(SPACE, question, LIMIT),
        words: () => indexes.words.search(SPACE.tenantId, asked, LIMIT),
        both: () => Promise.all([search.vectors(), search.words()]),
      }
      for (const name of ['vectors', 'words', 'both'] as const) {
        const from = performance.now()
        const found: Promise<unknown> = search[name]()
        held.push(performance.now() - from)
        await found
        times[name].push(performance.now() - from)
      }
    }
    const megabytes = statSync(folder.file('test.db')).size / 1024 ** 2
    const alone = (measure: string, unit: string, value: number, target: Row['target'] = null) => ({
      ...{ measure: `${passages} passages: ${measure}`, unit, product: [value], target },
      ...{ reference: { name: '', values: [] }, absolute: true },
    })
    rows.push(
      alone('vectors and words, p50', 'ms', median(times.both), { atMost: atMostMs }),
      alone('vectors alone, p50', 'ms', median(times.vectors)),
      alone('words alone, p50', 'ms', median(times.words)),
      alone('event loop held by a search, at most', 'ms', Math.max(...held), { atMost: 5 }),
      alone('stored', '1/s', rate),
      alone('file', 'MB', megabytes),
    )
  }
  return rows
}

type Random = () => number

/** Pseudo-random numbers from 0 up to 1, the same in every run. */
function randomNumbers(): Random {
  let state = 12_345
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

function unitVector(random: Random): Float32Array {
  const vector = Float32Array.from({ length: DIMENSIONS }, () => random() - 0.5)
  const length = Math.hypot(...vector)
  return vector.map((x) => x / length)
}

/** Words by their rank, from `first` on. */
function words(random: Random, count: number, first = 1): string[] {
  const rank = () => Math.floor(first * (VOCABULARY / first) ** random())
  return Array.from({ length: count }, () => `w${rank()}`)
}

const docOf = (at: number) => sql`
  INSERT INTO kb_doc (num, id, tenant_id, title, char_count, chunk_count, created_at, embed_model)
  VALUES (${at + 1}, ${`doc-${at}`}, ${SPACE.tenantId}, 'a', 1, ${PASSAGES}, '', ${SPACE.model})`
