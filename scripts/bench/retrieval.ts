// Recall of the knowledge base search beside plain BM25, over HTTP:
//   npm run bench -- retrieval FOLDER
// FOLDER holds one folder for each language or pair of languages, with passages.jsonl
// {id, title, text} and questions.jsonl {question, gold: [passage ids]}. Passages are stored as
// sections of up to 50 documents; a hit counts when most of its new text is of the right passage.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKey } from '../../test/support/key.ts'
import { startServer } from '../../test/support/server.ts'
import { tempFolder } from '../../test/support/temp.ts'
import { UsageError } from '../usage.ts'
import { bm25, type Piece } from './bm25.ts'
import { table } from './stats.ts'

interface Passage {
  readonly id: string
  readonly title: string
  readonly text: string
}

interface Question {
  readonly question: string
  readonly gold: readonly string[]
}

const DOCS_MAX = 50
/** The number of chunks in the preview of a document. */
const CHUNKS_MAX = 50
const TOP = 10

type Ask = (method: string, path: string, body?: object) => Promise<Record<string, unknown>>

const lines = <Row>(path: string): Row[] =>
  readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row)

/** Stores the passages and returns the passage of each chunk. */
async function store(ask: Ask, passages: readonly Passage[]): Promise<Map<string, Piece>> {
  const pieces = new Map<string, Piece>()
  const perDoc = Math.ceil(passages.length / DOCS_MAX)
  for (let from = 0; from < passages.length; from += perDoc) {
    const group = passages.slice(from, from + perDoc)
    const sections = group.map(({ title, text }) => `# ${title}\n\n${text}`)
    const text = sections.join('\n\n')
    const doc = await ask('POST', '/docs', { title: `${1 + from / perDoc}`, text })
    if (Number(doc.chunk_count) > CHUNKS_MAX) throw new Error('too many chunks to be shown')
    const { chunks } = await ask('GET', `/docs/${doc.id}/chunks`)
    let at = 0
    let covered = 0
    for (const chunk of chunks as { seq: number; text: string }[]) {
      at = text.indexOf(chunk.text, at)
      const owner = ownerOf(sections, covered, at + chunk.text.length)
      covered = at + chunk.text.length
      pieces.set(`${doc.id}/${chunk.seq}`, { text: chunk.text, owner: group[owner]?.id ?? '' })
    }
  }
  return pieces
}

/** The section that holds most of the text from `from` to `to`. */
function ownerOf(sections: readonly string[], from: number, to: number): number {
  let start = 0
  const shares = sections.map((section) => {
    const share = Math.min(start + section.length, to) - Math.max(start, from)
    start += section.length + 2
    return share
  })
  return shares.indexOf(Math.max(...shares))
}

/** Rank of each right passage, from 0; -1 when it is not among the first ten. */
function score(ranks: readonly number[]): string[] {
  const share = (within: number) =>
    ranks.filter((rank) => rank >= 0 && rank < within).length / ranks.length
  const mrr = ranks.reduce((sum, rank) => sum + (rank < 0 ? 0 : 1 / (rank + 1)), 0) / ranks.length
  return [share(1), share(5), mrr].map((value) => value.toFixed(3))
}

async function measure(folder: string, ask: Ask): Promise<string[][]> {
  const pieces = await store(ask, lines<Passage>(join(folder, 'passages.jsonl')))
  const questions = lines<Question>(join(folder, 'questions.jsonl'))
  const words = bm25([...pieces.values()])
  const plain: number[] = []
  const ours: number[] = []
  for (const { question, gold } of questions) {
    const rank = (owners: readonly string[]) =>
      owners.slice(0, TOP).findIndex((owner) => gold.includes(owner))
    plain.push(rank(words(question)))
    const { results } = await ask('POST', '/search', { q: question })
    const hits = results as { doc_id: string; seq: number }[]
    ours.push(rank(hits.map(({ doc_id, seq }) => pieces.get(`${doc_id}/${seq}`)?.owner ?? '')))
  }
  const hard = plain.flatMap((rank, i) => (rank === 0 ? [] : (ours[i] ?? -1)))
  const row = (name: string, ranks: readonly number[]) => [name, `${ranks.length}`, ...score(ranks)]
  return [
    row('plain BM25', plain),
    row('moonbase', ours),
    row('moonbase, where BM25 is not first', hard),
  ]
}

export async function benchRetrieval(root: string): Promise<void> {
  const names = existsSync(root) ? readdirSync(root) : []
  const sets = names.filter((name) => existsSync(join(root, name, 'passages.jsonl')))
  if (sets.length === 0) throw new UsageError(`there are no question sets in ${root}`)
  using data = tempFolder()
  await using server = await startServer({ dataDir: data.path })
  for (const name of sets) {
    const { headers } = await createKey(data.path, { email: `${name}@example.com` })
    const ask: Ask = async (method, path, body) => {
      const init = body ? { method, headers, body: JSON.stringify(body) } : { method, headers }
      const answer = await fetch(`${server.url}/v1/kb${path}`, init)
      if (!answer.ok) throw new Error(`${path} answered ${answer.status}`)
      return (await answer.json()) as Record<string, unknown>
    }
    const head = [name, 'questions', 'recall@1', 'recall@5', 'MRR@10']
    process.stdout.write(`${table([head, ...(await measure(join(root, name), ask))])}\n`)
  }
}
