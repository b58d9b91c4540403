import { pdfFile } from '../../test/support/pdf-file.ts'
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
/** 300 pages of 40 lines. */
const BOOK = pdfFile(
  Array.from({ length: 300 }, (_, page) => ({
    lines: Array.from(
      { length: 40 },
      (_, line) => `Line ${line} of page ${page} tells of pump ${line * page}.`,
    ),
  })),
)

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
  async function beside(work: (product: Program) => Promise<void>): Promise<StreamResult> {
    const done = new AbortController()
    const works = repeatUntil(() => work(product), done.signal)
    const result = await loadStreams(product.turns, LOAD)
    done.abort()
    const { count, seconds: spent } = await works
    if (work === addDocument) {
      uploaded += count
      seconds += spent
    }
    return result
  }
  const results = await alternate(rounds, {
    alone: () => loadStreams(product.turns, LOAD),
    beside: () => beside(addDocument),
    reading: () => beside(addBook),
  })
  const age = (name: keyof typeof results, share: number) =>
    results[name].map((result: StreamResult) => quantile(result.ageMs, share))
  const row = (share: number, label: string): Row => ({
    measure: `age of a token ${label}, beside 100 KB uploads`,
    unit: 'ms',
    product: age('beside', share),
    reference: { name: 'without uploads', values: age('alone', share) },
    target: null,
  })
  return [
    row(0.5, 'p50'),
    row(0.99, 'p99'),
    {
      ...row(0.99, 'p99'),
      measure: 'age of a token p99, beside the reading of a PDF of 300 pages',
      product: age('reading', 0.99),
      target: { atMost: 10 },
      absolute: true,
    },
    {
      measure: `100 KB documents indexed, beside ${LOAD.streams} streams`,
      unit: '1/s',
      product: [uploaded / seconds],
      reference: { name: '', values: [] },
      target: null,
    },
  ]
}

/** Repeats the work until `stopped`; resolves with the number of repetitions and the time. */
async function repeatUntil(work: () => Promise<void>, stopped: AbortSignal) {
  const begin = performance.now()
  let count = 0
  for (; !stopped.aborted; count++) await work()
  return { count, seconds: (performance.now() - begin) / 1_000 }
}

const addDocument = (product: Program) => upload(product, TEXT)

/** Adds the file, and deletes it once it is read. */
async function addBook({ url, headers }: Program): Promise<void> {
  const body = new FormData()
  body.append('file', new File([BOOK as Uint8Array<ArrayBuffer>], 'book.pdf'))
  const sent = await fetch(`${url}/v1/kb/files`, { method: 'POST', headers, body })
  const { id } = (await sent.json()) as { id: string }
  const address = `${url}/v1/kb/sources/${id}`
  for (let state = ''; state !== 'ready'; ) {
    await Bun.sleep(50)
    const source = await fetch(address, { headers })
    ;({ state } = (await source.json()) as { state: string })
    if (state === 'failed') throw new Error('the PDF was not read')
  }
  await fetch(address, { method: 'DELETE', headers })
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
