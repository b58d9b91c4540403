import { startPostgres } from '../../test/support/postgres.ts'
import { loadStreams } from './load-sse.ts'
import { type Product, type Program, prepareProduct, type Upstream } from './programs.ts'
import type { Row } from './report.ts'
import { median } from './stats.ts'
import { fillBox, openSearch, wordOf } from './talks-box.ts'

const QUERIES = 15
const KEY = Buffer.alloc(32, 7).toString('base64')
const COMMON = wordOf(3)
const RARE = 'zanzibar'
const since = () => new Date(Date.now() - 30 * 60_000).toISOString()

/** What a box of any size does alike. */
const EVERYDAY = [
  ['history', () => '/v1/sessions/talk-1/history'],
  ['sessions page', () => '/v1/sessions?limit=50'],
  ['transcript page', () => '/v1/sessions/talk-1/transcript'],
] as const

const SEARCHES = [
  ['the first page', ''],
  ['a common word', COMMON],
  ['a rare word', RARE],
  ['an absent word', 'quagmire'],
  ['two rare words', `${RARE} zeppelin`],
  ['Chinese, common', '丧乣'],
  ['Chinese, rare', '鲸鱼歌唱'],
] as const

const GROWING = [
  ['logs with their summary', () => '/v1/logs?limit=50', 50],
  ['logs of half an hour', () => `/v1/logs?limit=50&since=${since()}`, 50],
  ['logs by status 200', () => '/v1/logs?limit=50&status=200', 50],
  ['logs by status 429', () => '/v1/logs?limit=50&status=429', 50],
  ['logs by class 4xx', () => '/v1/logs?limit=50&status=4xx', 50],
  ['logs by session', () => '/v1/logs?limit=50&session_id=talk-77', 50],
] as const

/**
 * One tenant's conversations and log at their full size, through the HTTP of the product. In
 * SQLite, or in the database that `database` names; `start` starts a server for it.
 */
export async function benchTalks(
  upstream: Upstream,
  turns: number,
  database: string | undefined,
): Promise<Row[]> {
  await using started = database === 'start' ? await startPostgres('none') : null
  await using other = database === 'start' ? await startPostgres('none') : null
  const url = started?.url ?? database ?? null
  const name = `${turns} turns, ${url === null ? 'SQLite' : 'PostgreSQL'}: `
  using empty = await prepareProduct(upstream.url, urlOf(other?.url ?? null))
  using full = await prepareProduct(upstream.url, urlOf(url))
  process.stderr.write(`storing ${turns} turns ...\n`)
  const rate = await fillBox({ turns, dataDir: full.dataDir, databaseUrl: url })
  const reference = await everyday(upstream, empty)
  const product = await everyday(upstream, full)
  const rows = product.map(([measure, values], i) => ({
    measure: name + measure,
    unit: 'ms',
    product: values,
    reference: { name: 'an empty box', values: reference[i]?.[1] ?? [] },
    target: { atMost: 1.2 },
  }))
  const alone = (measure: string, unit: string, value: number, target: Row['target']): Row => ({
    ...{ measure: name + measure, unit, product: [value], target },
    ...{ reference: { name: '', values: [] }, absolute: true },
  })
  const growing = (await searches({ dataDir: full.dataDir, databaseUrl: url })).map(
    ([words, values]) => alone(`conversations: ${words}`, 'ms', median(values), { atMost: 50 }),
  )
  await using program = await full.start()
  for (const [measure, path, atMost] of GROWING) {
    growing.push(alone(measure, 'ms', median(await times(program, path)), { atMost }))
  }
  return [...rows, ...growing, alone('indexed', '1/s', rate, null)]
}

const urlOf = (url: string | null): Record<string, string> =>
  url === null
    ? {}
    : { MB_DATABASE_URL: url, MB_SESSION_SECRET: 'bench-'.repeat(8), MB_ENCRYPTION_KEY: KEY }

async function searches(box: Parameters<typeof openSearch>[0]): Promise<[string, number[]][]> {
  await using search = await openSearch(box)
  const measured: [string, number[]][] = []
  for (const [name, words] of SEARCHES) {
    measured.push([name, await repeated(() => search.find(words))])
  }
  return measured
}

async function everyday(upstream: Upstream, prepared: Product) {
  await using program = await prepared.start()
  const measured: [string, number[]][] = [['one-token turn', await turnTimes(upstream, program)]]
  for (const [measure, path] of EVERYDAY) measured.push([measure, await times(program, path)])
  return measured
}

async function turnTimes(upstream: Upstream, program: Program): Promise<number[]> {
  await upstream.plan({ tokens: 1, delayMs: 0 })
  await loadStreams(program.turns, { streams: 1, requests: 50, tokens: 1 })
  return [...(await loadStreams(program.turns, { streams: 1, requests: 100, tokens: 1 })).firstMs]
}

const times = ({ url, headers }: Program, path: () => string): Promise<number[]> =>
  repeated(async () => {
    const answer = await fetch(url + path(), { headers })
    await answer.arrayBuffer()
    if (!answer.ok) throw new Error(`${path()} answered ${answer.status}`)
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
