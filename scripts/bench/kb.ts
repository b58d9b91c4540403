import { measureEmbeddings } from './embeddings.ts'
import { measureScan } from './kb-scan.ts'
import { loadStreams, type StreamResult } from './load-sse.ts'
import type { Product, Program, Upstream } from './programs.ts'
import type { Row } from './report.ts'
import { alternate } from './rounds.ts'
import { quantile } from './stats.ts'

const LOAD = { streams: 50, requests: 150, tokens: 60, rampMs: 200, stamped: true }
const DELAY_MS = 20
/** A document of the largest size. */
const TEXT = '夏天的雨来得快也去得快，屋檐下的燕子却不慌不忙。'.repeat(1_400)
const WARM_UP = 'a short text'

/** Search beside a bare scan, vectors for clients, and the delay that uploads cause for others. */
export async function benchKb(
  upstream: Upstream,
  prepared: Product,
  rounds: number,
): Promise<Row[]> {
  return [
    ...(await measurePace(upstream, prepared, rounds)),
    ...(await measureScan(rounds)),
    ...(await measureEmbeddings(prepared, rounds)),
  ]
}

async function measurePace(upstream: Upstream, prepared: Product, rounds: number): Promise<Row[]> {
  await using product = await prepared.start()
  await upload(product, WARM_UP)
  await upstream.plan({ tokens: LOAD.tokens, delayMs: DELAY_MS })
  let uploaded = 0
  let seconds = 0
  const results = await alternate(rounds, {
    alone: () => loadStreams(product.turns, LOAD),
    beside: async () => {
      const done = new AbortController()
      const begin = performance.now()
      const uploads = uploadUntil(product, done.signal)
      const result = await loadStreams(product.turns, LOAD)
      done.abort()
      uploaded += await uploads
      seconds += (performance.now() - begin) / 1_000
      return result
    },
  })
  const age = (name: keyof typeof results, share: number) =>
    results[name].map((result: StreamResult) => quantile(result.ageMs, share))
  const row = (share: number, label: string, target: Row['target']): Row => ({
    measure: `age of a token ${label}, beside 100 KB uploads`,
    unit: 'ms',
    product: age('beside', share),
    reference: { name: 'without uploads', values: age('alone', share) },
    target,
  })
  return [
    row(0.5, 'p50', null),
    row(0.99, 'p99', null),
    {
      measure: `100 KB documents indexed, beside ${LOAD.streams} streams`,
      unit: '1/s',
      product: [uploaded / seconds],
      reference: { name: '', values: [] },
      target: null,
    },
  ]
}

/** Uploads and deletes one document after the other; resolves with their number. */
async function uploadUntil(product: Program, signal: AbortSignal): Promise<number> {
  let count = 0
  for (; !signal.aborted; count++) await upload(product, TEXT)
  return count
}

async function upload({ url, headers }: Program, text: string): Promise<void> {
  const answer = await fetch(`${url}/v1/kb/docs`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ title: 'bench', text }),
  })
  if (answer.status !== 201) throw new Error(`${url}/v1/kb/docs answered ${answer.status}`)
  const { id } = (await answer.json()) as { id: string }
  await fetch(`${url}/v1/kb/docs/${id}`, { method: 'DELETE', headers })
}
