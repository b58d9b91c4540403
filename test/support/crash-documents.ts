import type { Sending } from './crash-sessions.ts'

/** A document or file that was sent, with a word that only its passages contain. */
interface SentDocument {
  readonly path: 'docs' | 'sources'
  id: string
  /** `doubtful`: the client does not know whether it was stored. */
  state: 'there' | 'gone' | 'doubtful'
}

export type SentDocuments = Map<string, SentDocument>

/** Documents that a worker leaves before it deletes some. */
const DOCUMENTS_MOST = 12
/** Short enough that files become several documents. */
export const DOCUMENT_ENV = { MB_KB_MAX_DOC_KB: '4', MB_KB_MAX_DOCS: '1000' }

interface Hit {
  readonly doc_id: string
  readonly seq: number
  readonly text: string
}

const textOf = (mark: string, sections: number) =>
  Array.from({ length: sections }, (_, i) =>
    `# ${mark} section ${i + 1}\n\n`.concat(`The station ${mark} has rule ${i + 1}. `.repeat(40)),
  ).join('\n\n')

/** The answer's body; null when the server is away. Throws when it refuses. */
async function call(sending: Sending, method: string, path: string, body?: object | FormData) {
  const form = body instanceof FormData
  let answer: Response
  let text: string
  try {
    answer = await fetch(`${sending.someServer()}/v1/kb${path}`, {
      method,
      headers: { ...sending.headers, ...(form ? {} : { 'content-type': 'application/json' }) },
      ...(body ? { body: form ? body : JSON.stringify(body) } : {}),
    })
    text = await answer.text()
  } catch {
    return null
  }
  // 503: stopping, or the database is away. 502: its embedder was ended with it.
  if (answer.status >= 500) return null
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return JSON.parse(text)
}

const away = () => Bun.sleep(100)

async function add(mark: string, sending: Sending, sent: SentDocuments): Promise<void> {
  const path = sending.random() < 0.4 ? 'sources' : 'docs'
  const document: SentDocument = { path, id: '', state: 'doubtful' }
  sent.set(mark, document)
  const form = new FormData()
  form.set('file', new File([textOf(mark, 6)], `${mark}.md`))
  const answer = await (path === 'sources'
    ? call(sending, 'POST', '/files', form)
    : call(sending, 'POST', '/docs', { title: mark, text: textOf(mark, 2) }))
  if (answer === null) return away()
  document.id = answer.id
  document.state = 'there'
}

async function remove({ path, id }: SentDocument, sending: Sending): Promise<boolean> {
  return (await call(sending, 'DELETE', `/${path}/${id}`)) !== null
}

/** The hits of a search for a document's word; null when the server is away. */
async function search(mark: string, sending: Sending): Promise<Hit[] | null> {
  const answer = await call(sending, 'POST', '/search', { q: mark })
  return answer && (answer.results as Hit[]).filter(({ text }) => text.includes(`${mark} `))
}

/**
 * A document is found at each server once it was acknowledged, and not after its deletion. Null
 * when the server is away.
 */
async function compareSearch(mark: string, document: SentDocument, sending: Sending) {
  const hits = await search(mark, sending)
  if (hits === null) return null
  const passages = new Set(hits.map(({ doc_id, seq }) => `${doc_id} ${seq}`))
  const faults: string[] = []
  if (passages.size < hits.length) faults.push(`${mark}: a passage is found twice`)
  if (document.state === 'gone' && hits.length > 0) faults.push(`${mark} was deleted and is found`)
  // A file is found when it is read, and `verifyDocuments` waits for that.
  if (document.state === 'there' && document.path === 'docs' && hits.length === 0) {
    faults.push(`${mark} was acknowledged and is not found`)
  }
  return faults
}

/** Adds documents and files, deletes some, and looks for both, until it is told to stop. */
export async function fillDocuments(
  name: string,
  sending: Sending,
  sent: SentDocuments,
  stopped: () => boolean,
  report: { documents: number; searches: number; readonly faults: string[] },
): Promise<void> {
  const own: string[] = []
  for (let n = 0; !stopped(); n++) {
    const mark = `${name}n${n}`
    await add(mark, sending, sent)
    own.push(mark)
    if (sent.get(mark)?.state === 'there') report.documents++
    const there = own.filter((each) => sent.get(each)?.state === 'there')
    if (there.length > DOCUMENTS_MOST) {
      const document = sent.get(there[Math.floor(sending.random() * there.length)] ?? '')
      if (document) {
        document.state = 'doubtful'
        if (await remove(document, sending)) document.state = 'gone'
        else await away()
      }
    }
    for (const each of [mark, own[Math.floor(sending.random() * own.length)] ?? mark]) {
      const document = sent.get(each)
      const found = document && (await compareSearch(each, document, sending))
      if (!found) continue
      report.faults.push(...found)
      report.searches++
    }
  }
}

/** A source of a dead server is taken over when its lease is over, a minute later. */
const FINISHED_MS_MAX = 180_000

/** Orphaned rows of the knowledge base, by their kind. */
const LEFT = `
  SELECT 'waiting sources' AS what, count(*)::int AS n FROM kb_source
    WHERE state IN ('queued', 'reading', 'embedding')
  UNION ALL SELECT 'hidden documents', count(*)::int FROM kb_doc WHERE stage <> 'live'
  UNION ALL SELECT 'documents of no source', count(*)::int FROM kb_doc d
    WHERE source_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM kb_source s WHERE s.id = d.source_id)
  UNION ALL SELECT 'documents without all chunks', count(*)::int FROM kb_doc d
    WHERE chunk_count <> (SELECT count(*) FROM kb_chunk c WHERE c.doc_num = d.num)
  UNION ALL SELECT 'chunks without vector', count(*)::int FROM kb_chunk
    WHERE NOT EXISTS (SELECT 1 FROM kb_vector v WHERE v.key = doc_num * 1024 + seq)
  UNION ALL SELECT 'chunks without words', count(*)::int FROM kb_chunk
    WHERE NOT EXISTS (SELECT 1 FROM kb_word w WHERE w.key = doc_num * 1024 + seq)
  UNION ALL SELECT 'vectors of no chunk', count(*)::int FROM kb_vector
    WHERE NOT EXISTS (SELECT 1 FROM kb_chunk WHERE doc_num * 1024 + seq = key)
  UNION ALL SELECT 'words of no chunk', count(*)::int FROM kb_word
    WHERE NOT EXISTS (SELECT 1 FROM kb_chunk WHERE doc_num * 1024 + seq = key)`

type Ask = <Row>(text: string) => Promise<Row[]>

async function leftOver(ask: Ask): Promise<string[]> {
  const rows = await ask<{ what: string; n: number }>(LEFT)
  return rows.filter(({ n }) => n > 0).map(({ what, n }) => `${n} ${what}`)
}

/** A row as the database gives it; numbers are text. */
interface StoredDoc {
  readonly id: string
  readonly title: string
  readonly source_id: string | null
  readonly part: string | null
  readonly parts: string | null
}

/** Compares all documents with those that were sent; each must be stored whole and once. */
export async function verifyDocuments(
  ask: Ask,
  sent: SentDocuments,
  sending: Sending,
): Promise<string[]> {
  const until = performance.now() + FINISHED_MS_MAX
  let left = await leftOver(ask)
  while (left.length > 0 && performance.now() < until) {
    await Bun.sleep(500)
    left = await leftOver(ask)
  }
  const faults = [...left]
  const docs = await ask<StoredDoc>('SELECT id, title, source_id, part, parts FROM kb_doc')
  const sources = await ask<{ id: string; state: string; error_class: string | null }>(
    'SELECT id, state, error_class FROM kb_source',
  )
  for (const { id, state, error_class } of sources) {
    if (state !== 'ready') faults.push(`source ${id} is ${state}: ${error_class}`)
  }
  for (const [mark, document] of sent) {
    const { path, id, state } = document
    const column = path === 'docs' ? 'id' : 'source_id'
    const rows = docs.filter((row) => row[column] === id)
    if (state === 'there' && rows.length === 0) faults.push(`${mark} was acknowledged and is lost`)
    if (state === 'gone' && rows.length > 0) faults.push(`${mark} was deleted and is back`)
    const parts = new Set(rows.map(({ part }) => part))
    if (parts.size < rows.length) faults.push(`${mark} has a part twice`)
    if (rows.some((row) => path === 'sources' && row.parts !== String(rows.length))) {
      faults.push(`${mark} has ${rows.length} of its parts`)
    }
    faults.push(...((await compareSearch(mark, document, sending)) ?? []))
    const hits = state === 'there' ? await search(mark, sending) : null
    if (hits?.length === 0) faults.push(`${mark} is not found by its words`)
  }
  const titles = docs.filter(({ source_id }) => source_id === null).map(({ title }) => title)
  if (new Set(titles).size < titles.length) faults.push('a document is there twice')
  return faults
}

/** Deletes all documents, acknowledged or not. */
export async function emptyKb(sending: Sending): Promise<void> {
  const { sources } = (await call(sending, 'GET', '/sources')) ?? { sources: [] }
  for (const { id } of sources) await call(sending, 'DELETE', `/sources/${id}`)
  const { docs } = (await call(sending, 'GET', '/docs')) ?? { docs: [] }
  for (const { id } of docs) await call(sending, 'DELETE', `/docs/${id}`)
}
