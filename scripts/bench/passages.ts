import { statSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from '../../src/storage/db.ts'
import { KEYS_PER_DOC } from '../../src/storage/indexes.ts'
import { openIndexes } from '../../test/support/indexes.ts'
import { openBox } from './boxes.ts'
import type { Row } from './report.ts'
import { median } from './stats.ts'
import { randomNumbers } from './talk-texts.ts'

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
/** Searches that read the file from the disk. */
const WARM_UP = 5
const LIMIT = 60
const SPACE = { tenantId: 'tenant', model: 'bench' }

/**
 * Both indexes of a knowledge base, searched side by side as a turn does, by their size. `boxes` is
 * the folder of filled ones that are kept.
 */
export async function benchPassages(boxes: string | null): Promise<Row[]> {
  const rows: Row[] = []
  for (const { passages, atMostMs } of SIZES) {
    const name = `passages-${passages}`
    using box = await openBox({ boxes, name, now: Date.now() }, (folder) => fill(folder, passages))
    const { held, times } = await search(box.folder)
    const megabytes = statSync(join(box.folder, 'test.db')).size / 1024 ** 2
    const alone = (measure: string, unit: string, value: number, target: Row['target'] = null) => ({
      ...{ measure: `${passages} passages: ${measure}`, unit, product: [value], target },
      ...{ reference: { name: '', values: [] }, absolute: true },
    })
    rows.push(
      alone('vectors and words, p50', 'ms', median(times.both), { atMost: atMostMs }),
      alone('vectors alone, p50', 'ms', median(times.vectors)),
      alone('words alone, p50', 'ms', median(times.words)),
      alone('event loop held by a search, at most', 'ms', Math.max(...held), { atMost: 5 }),
      alone('stored', '1/s', box.facts.storedPerSecond),
      alone('file', 'MB', megabytes),
    )
  }
  return rows
}

async function fill(folder: string, passages: number) {
  process.stderr.write(`storing ${passages} passages ...\n`)
  await using indexes = await openIndexes(folder)
  await indexes.db.run(sql`INSERT INTO tenant (id, created_at) VALUES (${SPACE.tenantId}, '')`)
  const random = randomNumbers()
  const begin = performance.now()
  let storing: Promise<unknown> = Promise.resolve()
  for (let stored = 0; stored < passages; stored += PASSAGES) {
    const entries = Array.from({ length: PASSAGES }, (_, i) => ({
      key: (1 + stored / PASSAGES) * KEYS_PER_DOC + i,
      vector: unitVector(random),
      terms: words(random, WORDS),
    }))
    // The next ones are made while these are stored.
    await storing
    storing = indexes.db.batch([
      docOf(stored / PASSAGES),
      ...indexes.vectors.upsert(SPACE, entries),
      ...indexes.words.upsert(SPACE.tenantId, entries),
    ])
  }
  await storing
  return { storedPerSecond: (passages / (performance.now() - begin)) * 1_000 }
}

/** Milliseconds of searches of each kind, and for how long they held the event loop. */
async function search(folder: string) {
  await using indexes = await openIndexes(folder)
  const random = randomNumbers()
  const held: number[] = []
  const times = { vectors: [] as number[], words: [] as number[], both: [] as number[] }
  for (let i = 0; i < WARM_UP + QUERIES; i++) {
    const question = unitVector(random)
    const asked = words(random, ASKED, SAYING_NOTHING)
    const work = {
      vectors: () => indexes.vectors.search(SPACE, question, LIMIT),
      words: () => indexes.words.search(SPACE.tenantId, asked, LIMIT),
      both: () => Promise.all([work.vectors(), work.words()]),
    }
    for (const name of ['vectors', 'words', 'both'] as const) {
      const from = performance.now()
      const found: Promise<unknown> = work[name]()
      const heldMs = performance.now() - from
      await found
      if (i < WARM_UP) continue
      held.push(heldMs)
      times[name].push(performance.now() - from)
    }
  }
  return { held, times }
}

type Random = () => number

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
