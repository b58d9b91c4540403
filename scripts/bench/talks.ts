import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createKey } from '../../test/support/key.ts'
import { signIn } from '../../test/support/login.ts'
import { askPostgres } from '../../test/support/postgres-client.ts'
import { startCluster } from '../../test/support/postgres-cluster.ts'
import { run } from '../../test/support/run.ts'
import { openBox } from './boxes.ts'
import { loadStreams, type StreamLoad } from './load-sse.ts'
import { agentTurns, type StartOptions, startProduct, type Upstream } from './programs.ts'
import type { Row } from './report.ts'
import { median, quantile } from './stats.ts'
import { wordOf } from './talk-texts.ts'
import { fillBox } from './talks-box.ts'

const QUERIES = 25
const STARTS = 3
/** Turns of the box that the full one is compared with: as many as a page shows, ten times. */
const YOUNG_TURNS = 1_000
const KEY = Buffer.alloc(32, 7).toString('base64')
const OWNER = 'owner@example.com'
const COMMON = wordOf(3)
const RARE = 'zanzibar'

/** What a box of any size does alike. */
const EVERYDAY = [
  ['history', '/v1/sessions/talk-1/history'],
  ['sessions page', '/v1/sessions?limit=50'],
  ['transcript page', '/v1/sessions/talk-1/transcript'],
] as const

const found = (words: string) => `/console/conversations?q=${encodeURIComponent(words)}`

/** What a person opens, by the most milliseconds that it may take. */
const GROWING = [
  ['usage', '/console/usage', 10],
  ['audit', '/console/audit', 10],
  ['conversations: the first page', '/console/conversations', 10],
  ['conversations: a common word', found(COMMON), 50],
  ['conversations: a rare word', found(RARE), 50],
  ['conversations: an absent word', found('quagmire'), 50],
  ['conversations: two rare words', found(`${RARE} zeppelin`), 50],
  ['conversations: two common words', found(`${COMMON} ${wordOf(5)}`), 50],
  ['conversations: Chinese, common', found('丧乣'), 50],
  ['conversations: Chinese, rare', found('鲸鱼歌唱'), 50],
  ['logs with their summary', '/v1/logs?limit=50', 50],
  ['logs of half an hour', '/v1/logs?limit=50&since=', 50],
  ['logs by status 200', '/v1/logs?limit=50&status=200', 50],
  ['logs by status 429', '/v1/logs?limit=50&status=429', 50],
  ['logs by class 4xx', '/v1/logs?limit=50&status=4xx', 50],
  ['logs by session', '/v1/logs?limit=50&session_id=talk-77', 50],
  ['documents with their citations', '/v1/kb/docs', 50],
] as const

/** What the tenant of the box does at its worst, four of it at a time. */
const WORST = [
  ['four searches of conversations', found(COMMON)],
  ['four searches in Chinese', found('丧乣')],
  ['four pages of logs', '/v1/logs?limit=200&status=4xx'],
  ['four lists of documents', '/v1/kb/docs'],
] as const

interface BoxFacts {
  readonly headers: StartOptions['headers']
  /** Of a key of another tenant. */
  readonly neighbour: StartOptions['headers']
  readonly indexedPerSecond: number
}

/**
 * One tenant's conversations and log at their full size, through the HTTP of the product. In
 * SQLite, or in the database that `database` names; `start` starts a server for it. `boxes` is the
 * folder of boxes that are kept.
 */
export async function benchTalks(
  upstream: Upstream,
  { turns, boxes, database }: { turns: number; boxes: string | null; database: string | undefined },
): Promise<Row[]> {
  const kind = database === undefined ? 'SQLite' : 'PostgreSQL'
  const name = `${turns} turns, ${kind}: `
  const cluster = database === 'start' ? boxes && join(boxes, `postgres-${turns}-cluster`) : null
  await using started = database === 'start' ? await startCluster(cluster ?? undefined) : null
  const at = (of: string) => (started ? `${started.url.replace(/postgres$/, of)}` : database)
  const make = async (folder: string, of: string, size: number): Promise<BoxFacts> => {
    process.stderr.write(`storing ${size} turns ...\n`)
    if (started) {
      await askPostgres(started.url, `DROP DATABASE IF EXISTS ${of} WITH (FORCE)`)
      await askPostgres(started.url, `CREATE DATABASE ${of}`)
    }
    return fillTenant({
      dataDir: folder,
      url: of === 'young_box' && !started ? null : at(of),
      size,
    })
  }
  const place = `${kind.toLowerCase()}-${turns}`
  const now = Date.now()
  using full = await openBox({ boxes, name: place, now }, (folder) =>
    make(folder, 'full_box', turns),
  )
  using young = await openBox({ boxes: null, name: 'young', now }, (folder) =>
    make(folder, 'young_box', Math.min(turns, YOUNG_TURNS)),
  )
  const starting = (box: typeof full, url: string | undefined) => () =>
    startProduct({
      ...{ upstream: upstream.url, dataDir: box.folder, headers: box.facts.headers },
      env: settingsOf(url ?? null),
    })
  const rows = await measure(upstream, {
    full: starting(full, at('full_box')),
    young: starting(young, started ? at('young_box') : undefined),
    neighbour: full.facts.neighbour,
    since: new Date(full.filledAt - 30 * 60_000).toISOString(),
    backup:
      kind === 'SQLite' ? (to: string) => run(['backup', to], full.folder, settingsOf(null)) : null,
  })
  const rate = only('indexed', '1/s', full.facts.indexedPerSecond, null)
  return [...rows, rate].map((row) => ({ ...row, measure: name + row.measure }))
}

type Start = () => ReturnType<typeof startProduct>

interface Boxes {
  readonly full: Start
  readonly young: Start
  readonly neighbour: StartOptions['headers']
  /** The last half hour of the box's log. */
  readonly since: string
  /** Writes a backup of the full box into a file. */
  readonly backup: ((file: string) => Promise<unknown>) | null
}

/** A tenant with a key and its neighbour with one; the first is filled. */
async function fillTenant(box: { dataDir: string; url: string | null | undefined; size: number }) {
  const { dataDir, size } = box
  const url = box.url ?? null
  const env = settingsOf(url)
  const { headers, tenantId } = await createKey(dataDir, { email: OWNER, env })
  const { headers: neighbour } = await createKey(dataDir, { email: 'b@example.com', env })
  const plan = { turns: size, dataDir, databaseUrl: url, tenantId }
  return { headers, neighbour, indexedPerSecond: await fillBox(plan) }
}

const settingsOf = (url: string | null): Record<string, string> =>
  url === null
    ? {}
    : { MB_DATABASE_URL: url, MB_SESSION_SECRET: 'bench-'.repeat(8), MB_ENCRYPTION_KEY: KEY }

const only = (measure: string, unit: string, value: number, target: Row['target']): Row => ({
  ...{ measure, unit, product: [value], target },
  ...{ reference: { name: '', values: [] }, absolute: true },
})

async function measure(upstream: Upstream, boxes: Boxes): Promise<Row[]> {
  const { full, neighbour, since, backup } = boxes
  const starts: number[] = []
  for (let i = 0; i < STARTS; i++) {
    await using program = await full()
    starts.push(program.startMs)
  }
  await upstream.plan({ tokens: 1, delayMs: 0 })
  await using program = await full()
  await using young = await boxes.young()
  const rows = [only('start', 'ms', median(starts), { atMost: 200 })]
  rows.push(...(await measureEveryday(program, young)))
  const person = await signIn(program, OWNER)
  const ask = (path: string) => {
    const headers = path.startsWith('/console') ? person.headers : program.headers
    return asking(program.url, headers, path.replace(/since=$/, `since=${since}`))
  }
  for (const [measure, path, atMost] of GROWING) {
    rows.push(only(measure, 'ms', median(await repeated(ask(path))), { atMost }))
  }
  const theirs = agentTurns(program.url, neighbour)
  for (const [what, path] of WORST) {
    const times = await beside(theirs, () => Promise.all(Array.from({ length: 4 }, ask(path))))
    rows.push(compared(`another tenant's turn p95, beside ${what}`, times, 0.95, 2))
  }
  if (backup) {
    const file = join(process.env.TMPDIR ?? '/tmp', `moonbase-bench-${process.pid}.backup`)
    const times = await beside(program.turns, () => backup(file))
    rmSync(file, { force: true })
    rows.push(compared('turn p99, beside a backup', times, 0.99, 3))
  }
  return rows
}

type Asking = () => Promise<void>

const asking =
  (url: string, headers: Readonly<Record<string, string>>, path: string): Asking =>
  async () => {
    const answer = await fetch(url + path, { headers })
    await answer.arrayBuffer()
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}`)
  }

type Program = Awaited<ReturnType<Start>>

/** The same of both boxes, in turn. */
async function measureEveryday(full: Program, young: Program): Promise<Row[]> {
  const turn = (program: Program) => async () =>
    void (await loadStreams(program.turns, { streams: 1, requests: 1, tokens: 1 }))
  const works: [string, (program: Program) => Asking][] = [['one-token turn', turn]]
  for (const [measure, path] of EVERYDAY) {
    works.push([measure, ({ url, headers }) => asking(url, headers, path)])
  }
  const rows: Row[] = []
  for (const [measure, work] of works) {
    const times: [number[], number[]] = [[], []]
    for (let round = 0; round < 8; round++) {
      for (const [i, program] of [full, young].entries()) {
        const measured = await repeated(work(program))
        // The first round warms both up.
        if (round > 0) times[i]?.push(...measured)
      }
    }
    rows.push({
      ...{ measure, unit: 'ms', product: [median(times[0])], target: { atMost: 1.2 } },
      reference: { name: 'a young box', values: [median(times[1])] },
    })
  }
  return rows
}

const ALONE: StreamLoad = { streams: 1, requests: 300, tokens: 1 }

/** Milliseconds of turns, alone and while `work` is done again and again, of one time at least. */
async function beside(turns: Parameters<typeof loadStreams>[0], work: () => Promise<unknown>) {
  await loadStreams(turns, { ...ALONE, requests: 100 })
  const alone = (await loadStreams(turns, ALONE)).firstMs
  let working = true
  let done = 0
  const works = (async () => {
    for (; working; done++) await work()
  })()
  const busy: number[] = []
  do busy.push(...(await loadStreams(turns, { ...ALONE, requests: 50 })).firstMs)
  while (busy.length < 300 || done === 0)
  working = false
  await works
  return { alone, busy }
}

const compared = (
  measure: string,
  { alone, busy }: { alone: readonly number[]; busy: readonly number[] },
  share: number,
  atMost: number,
): Row => ({
  ...{ measure, unit: 'ms', product: [quantile(busy, share)], target: { atMost } },
  reference: { name: 'alone', values: [quantile(alone, share)] },
})

/** Milliseconds of one call after another. */
async function repeated(work: () => Promise<unknown>): Promise<number[]> {
  const measured: number[] = []
  for (let i = 0; i < QUERIES; i++) {
    const from = performance.now()
    await work()
    measured.push(performance.now() - from)
  }
  return measured
}
