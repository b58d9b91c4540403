// Retrieval over HTTP, beside plain BM25:
//   npm run bench -- retrieval FOLDER
// FOLDER holds one folder for each language or pair of languages, with passages.jsonl
// {id, title, text} and questions.jsonl {question, gold: [passage ids]}. Passages are stored in up
// to 50 documents, as sections under their titles and as plain paragraphs; a hit counts when most
// of its new text is of the right passage. Each half of the questions is asked again of a tenant
// that lacks their passages. With MB_DATABASE_URL and both keys, the server uses that database.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKey } from '../../test/support/key.ts'
import { startServer } from '../../test/support/server.ts'
import { tempFolder } from '../../test/support/temp.ts'
import { UsageError } from '../usage.ts'
import { bm25, type Piece } from './bm25.ts'
import { quantile, table } from './stats.ts'

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

type Layout = 'headings' | 'plain'

/** Stores the passages and returns the passage of each chunk. */
async function store(
  ask: Ask,
  passages: readonly Passage[],
  layout: Layout,
): Promise<Map<string, Piece>> {
  const pieces = new Map<string, Piece>()
  const perDoc = Math.ceil(passages.length / DOCS_MAX)
  for (let from = 0; from < passages.length; from += perDoc) {
    const group = passages.slice(from, from + perDoc)
    const sections = group.map(({ title, text }) =>
      layout === 'headings' ? `# ${title}\n\n${text}` : text,
    )
    const text = sections.join('\n\n')
    const doc = await ask('POST', '/kb/docs', { title: `${1 + from / perDoc}`, text })
    if (Number(doc.chunk_count) > CHUNKS_MAX) throw new Error('too many chunks to be shown')
    const { chunks } = await ask('GET', `/kb/docs/${doc.id}/chunks`)
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

interface Ref {
  readonly doc_id: string
  readonly seq: number
}

/** The passages that a turn cites. */
async function cited(answer: Response): Promise<readonly Ref[]> {
  const [, refs = '[]'] = /"type":"kb_refs","refs":(\[.*?\])\}\n/.exec(await answer.text()) ?? []
  return JSON.parse(refs)
}

const share = (ranks: readonly number[], within: number) =>
  (ranks.filter((rank) => rank >= 0 && rank < within).length / ranks.length).toFixed(3)

interface Tenant {
  readonly ask: Ask
  turn(text: string): Promise<Response>
}

/** Rows of a table; ranks are those of the right passage, from 0, or -1. */
async function measure(folder: string, layout: Layout, open: () => Promise<Tenant>) {
  const passages = lines<Passage>(join(folder, 'passages.jsonl'))
  const questions = lines<Question>(join(folder, 'questions.jsonl'))
  const { ask, turn } = await open()
  const pieces = await store(ask, passages, layout)
  const words = bm25([...pieces.values()])
  const ownersOf = (refs: readonly Ref[]) =>
    refs.map(({ doc_id, seq }) => pieces.get(`${doc_id}/${seq}`)?.owner ?? '')
  const plain: number[] = []
  const found: number[] = []
  const shown: number[] = []
  const times: number[] = []
  for (const { question, gold } of questions) {
    const rank = (owners: readonly string[]) =>
      owners.slice(0, TOP).findIndex((owner) => gold.includes(owner))
    plain.push(rank(words(question)))
    const begin = performance.now()
    const { results } = await ask('POST', '/kb/search', { q: question })
    times.push(performance.now() - begin)
    found.push(rank(ownersOf(results as Ref[])))
    shown.push(rank(ownersOf(await cited(await turn(question)))))
  }
  const isHard = (_: number, i: number) => plain[i] !== 0
  const row = (name: string, isIn: (_: number, i: number) => boolean) => [
    name,
    `${questions.filter((_, i) => isIn(0, i)).length}`,
    `${share(plain.filter(isIn), 1)} / ${share(plain.filter(isIn), 5)}`,
    `${share(found.filter(isIn), 1)} / ${share(found.filter(isIn), 5)}`,
    share(shown.filter(isIn), 1),
    share(shown.filter(isIn), TOP),
  ]
  return {
    rows: [row(layout, () => true), row(`${layout}, where BM25 is not first`, isHard)],
    missing: await shownWithoutPassage(passages, questions, layout, open),
    milliseconds: quantile(times, 0.5),
  }
}

/** The share of questions for which a passage is shown although the right one is missing. */
async function shownWithoutPassage(
  passages: readonly Passage[],
  questions: readonly Question[],
  layout: Layout,
  open: () => Promise<Tenant>,
): Promise<number> {
  let count = 0
  for (const half of [0, 1]) {
    const asked = questions.filter((_, i) => i % 2 === half)
    const gold = new Set(asked.flatMap((one) => one.gold))
    const others = passages.filter(({ id }) => !gold.has(id))
    const { ask, turn } = await open()
    await store(ask, others, layout)
    for (const { question } of asked) if ((await cited(await turn(question))).length > 0) count++
  }
  return count / questions.length
}

const HEAD = ['questions', 'BM25 @1 / @5', 'search @1 / @5', 'cited first', 'shown']

const DATABASE = ['MB_DATABASE_URL', 'MB_SESSION_SECRET', 'MB_ENCRYPTION_KEY']

const databaseSettings = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => DATABASE.includes(name)),
  ) as Record<string, string>

export async function benchRetrieval(root: string): Promise<void> {
  const names = existsSync(root) ? readdirSync(root) : []
  const sets = names.filter((name) => existsSync(join(root, name, 'passages.jsonl')))
  if (sets.length === 0) throw new UsageError(`there are no question sets in ${root}`)
  using data = tempFolder()
  const env = databaseSettings()
  await using server = await startServer({ dataDir: data.path, env })
  let tenants = 0
  async function open(): Promise<Tenant> {
    const { headers } = await createKey(data.path, {
      email: `t${tenants++}@example.com`,
      rateLimit: 0,
      env,
    })
    const send = async (method: string, path: string, body?: object) => {
      const init = body ? { method, headers, body: JSON.stringify(body) } : { method, headers }
      const answer = await fetch(`${server.url}/v1${path}`, init)
      if (!answer.ok) throw new Error(`${path} answered ${answer.status}`)
      return answer
    }
    return {
      ask: async (method, path, body) =>
        (await (await send(method, path, body)).json()) as Record<string, unknown>,
      turn: (text) => send('POST', '/agent', { text, session_id: crypto.randomUUID() }),
    }
  }
  for (const name of sets) {
    for (const layout of ['headings', 'plain'] as const) {
      const { rows, missing, milliseconds } = await measure(join(root, name), layout, open)
      process.stdout.write(`${table([[name, ...HEAD], ...rows])}\n`)
      process.stdout.write(`  shown without a right passage: ${missing.toFixed(3)}; `)
      process.stdout.write(`a search takes ${milliseconds.toFixed(1)} ms (p50)\n\n`)
    }
  }
}
