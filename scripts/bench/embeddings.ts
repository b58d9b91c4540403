import { join } from 'node:path'
import { loadModel } from '../../src/channels/onnx/model.ts'
import type { Product, Program } from './programs.ts'
import type { Row } from './report.ts'
import { alternate } from './rounds.ts'

const TEXTS = 256
const SENTENCE = '用户可以在三十天内申请退款，逾期不再受理。Refunds take thirty days. '
const LENGTHS = [40, 600]
const MODEL = join(import.meta.dir, '../../models/default')

/** Texts a second of `POST /v1/embeddings`, beside the model alone in this process. */
export async function measureEmbeddings(prepared: Product, rounds: number): Promise<Row[]> {
  await using product = await prepared.start()
  const model = await loadModel(MODEL)
  const rows: Row[] = []
  for (const length of LENGTHS) {
    const input = Array.from({ length: TEXTS }, (_, i) => textOf(i, length))
    const results = await alternate(rounds, {
      model: () => textsASecond(() => model.embed(input, 'passage')),
      product: () => textsASecond(() => embed(product, input)),
    })
    rows.push({
      measure: `vectors of ${TEXTS} texts of ${length} characters in one request`,
      unit: '1/s',
      product: results.product,
      reference: { name: 'the model alone', values: results.model },
      target: null,
    })
  }
  return rows
}

const textOf = (i: number, length: number) => `${i} ${SENTENCE.repeat(20)}`.slice(0, length)

async function textsASecond(work: () => Promise<unknown>): Promise<number> {
  await work()
  const begin = performance.now()
  await work()
  return (TEXTS / (performance.now() - begin)) * 1_000
}

async function embed({ url, headers }: Program, input: readonly string[]): Promise<void> {
  const body = JSON.stringify({ input, encoding_format: 'base64' })
  const answer = await fetch(`${url}/v1/embeddings`, { method: 'POST', headers, body })
  if (!answer.ok) throw new Error(`/v1/embeddings answered ${answer.status}`)
  await answer.arrayBuffer()
}
