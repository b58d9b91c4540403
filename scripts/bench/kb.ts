import { join } from 'node:path'
import { loadModel } from '../../src/channels/onnx/model.ts'
import { pdfFile } from '../../test/support/pdf-file.ts'
import { loadStreams, type StreamResult } from './load-sse.ts'
import type { Product, Program, Upstream } from './programs.ts'
import type { Row } from './report.ts'
import { type Column, measureCase } from './rounds.ts'
import { quantile } from './stats.ts'

/** The delay that documents cause for streams, and vectors for clients. */
export async function benchKb(
  upstream: Upstream,
  prepared: Product,
  rounds: number,
): Promise<Row[]> {
  await using product = await prepared.start()
  return [
    ...(await measurePace(upstream, product, rounds)),
    ...(await measureEmbeddings(product, rounds)),
  ]
}

const LOAD = { streams: 50, requests: 150, tokens: 60, rampMs: 200, stamped: true }
const DELAY_MS = 20
/** A document of the largest size. */
const TEXT = '夏天的雨来得快也去得快，屋檐下的燕子却不慌不忙。'.repeat(1_400)
/** 300 pages of 40 lines. */
const BOOK = pdfFile(
  Array.from({ length: 300 }, (_, page) => ({
    lines: Array.from(
      { length: 40 },
      (_, line) => `Line ${line} of page ${page} tells of pump ${line * page}.`,
    ),
  })),
)

async function measurePace(upstream: Upstream, product: Program, rounds: number): Promise<Row[]> {
  await addDocument(product, 'a short text')
  await upstream.plan({ tokens: LOAD.tokens, delayMs: DELAY_MS })
  const alone = () => loadStreams(product.turns, LOAD)
  async function beside(work: () => Promise<void>): Promise<StreamResult> {
    const streams = alone()
    let streaming = true
    const ended = () => {
      streaming = false
    }
    streams.then(ended, ended)
    while (streaming) await work()
    return streams
  }
  const age = (share: number): Column<'alone' | 'beside' | 'reading', StreamResult> => ({
    measure: `age of a token p${share * 100}, beside 100 KB uploads`,
    unit: 'ms',
    product: 'beside',
    reference: ['alone', 'without uploads'],
    of: ({ ageMs }) => quantile(ageMs, share),
  })
  return measureCase<'alone' | 'beside' | 'reading', StreamResult>(rounds, {
    probes: {
      alone,
      beside: () => beside(() => addDocument(product, TEXT)),
      reading: () => beside(() => addBook(product)),
    },
    rows: [
      age(0.5),
      age(0.99),
      {
        ...age(0.99),
        measure: 'age of a token p99, beside the reading of a PDF of 300 pages',
        product: 'reading',
        target: { atMost: 10 },
        absolute: true,
      },
    ],
  })
}

/** Adds the document, and deletes it again. */
async function addDocument({ url, headers }: Program, text: string): Promise<void> {
  const answer = await fetch(`${url}/v1/kb/docs`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ title: 'bench', text }),
  })
  if (answer.status !== 201) throw new Error(`${url}/v1/kb/docs answered ${answer.status}`)
  const { id } = (await answer.json()) as { id: string }
  await fetch(`${url}/v1/kb/docs/${id}`, { method: 'DELETE', headers })
}

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

const TEXTS = 256
const SENTENCE = '用户可以在三十天内申请退款，逾期不再受理。Refunds take thirty days. '
const LENGTHS = [40, 600]
const MODEL = join(import.meta.dir, '../../models/default')

/** Texts a second of `POST /v1/embeddings`, beside the model alone in this process. */
async function measureEmbeddings({ url, headers }: Program, rounds: number): Promise<Row[]> {
  const model = await loadModel(MODEL)
  async function post(input: readonly string[]): Promise<void> {
    const body = JSON.stringify({ input, encoding_format: 'base64' })
    const answer = await fetch(`${url}/v1/embeddings`, { method: 'POST', headers, body })
    if (!answer.ok) throw new Error(`/v1/embeddings answered ${answer.status}`)
    await answer.arrayBuffer()
  }
  const rows: Row[] = []
  for (const length of LENGTHS) {
    const input = Array.from({ length: TEXTS }, (_, i) =>
      `${i} ${SENTENCE.repeat(20)}`.slice(0, length),
    )
    const column: Column<'model' | 'product', number> = {
      measure: `vectors of ${TEXTS} texts of ${length} characters in one request`,
      unit: '1/s',
      product: 'product',
      reference: ['model', 'the model alone'],
      of: (perSecond) => perSecond,
    }
    const probes = {
      model: () => textsASecond(() => model.embed(input, 'passage')),
      product: () => textsASecond(() => post(input)),
    }
    rows.push(...(await measureCase(rounds, { probes, rows: [column] })))
  }
  return rows
}

async function textsASecond(work: () => Promise<unknown>): Promise<number> {
  await work()
  const begin = performance.now()
  await work()
  return (TEXTS / (performance.now() - begin)) * 1_000
}
