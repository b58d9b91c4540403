import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { HASHED_INDEX, holdsDeletedWords, WORD_INDEXES } from '../../src/storage/sqlite/erase.ts'
import type { Embedder } from '../../src/upstream/ports/embedder.ts'
import { type Call, caller } from '../support/api.ts'
import { ON_POSTGRES, startApp, type TestApp } from '../support/app.ts'
import { startConversation } from '../support/conversation.ts'
import { kbClient } from '../support/kb.ts'
import { run } from '../support/run.ts'
import { sourcesClient } from '../support/sources.ts'
import { storedIn } from '../support/stored.ts'
import { tempFolder } from '../support/temp.ts'
import { hashVector } from '../support/upstream-embeddings.ts'

const embedder: Embedder = {
  id: 'words',
  embed: async (texts) => texts.map((text) => hashVector(text, 64)),
  close: async () => {},
}

/** A word that no other text has; the same for each run. */
const wordOf = (name: string) => `x${Bun.SHA1.hash(name, 'hex').slice(0, 24)}`

/** `count` paragraphs, each of which becomes a chunk or two and has a word of its own. */
function textOf(name: string, count: number): string {
  const filler = (at: number) => `${wordOf(`filler ${at % 50}`)} has been said here. `.repeat(8)
  return Array.from({ length: count }, (_, at) => `${wordOf(name + at)} ${filler(at)}`).join('\n\n')
}

const wordsOf = (name: string, count: number) =>
  Array.from({ length: count }, (_, at) => wordOf(name + at))

/** Those of the words that the bytes hold; an index stores a term without what the last one had. */
const readable = (bytes: string, words: readonly string[]) =>
  words.filter((word) => bytes.includes(word.slice(8)))

// PostgreSQL does this by VACUUM, in its own time.
describe.skipIf(ON_POSTGRES)('deleted data', () => {
  let app: TestApp
  let call: Call
  beforeEach(async () => {
    app = await startApp({ embedder })
    call = caller(`${app.url}/v1`, (await app.key()).headers)
  })
  afterEach(() => app[Symbol.asyncDispose]())

  async function add(name: string, paragraphs: number): Promise<string> {
    const text = textOf(name, paragraphs)
    const { body } = await kbClient(() => app.url).add(await app.key(), name, text)
    return (body as { id: string }).id
  }

  test('no word of a deleted document is left in the file, nor in its log', async () => {
    for (const name of ['first', 'gone', 'last']) {
      const id = await add(name, 120)
      for (let at = 0; at < 3; at++) await add(`${name} small ${at}`, 2)
      if (name !== 'gone') continue
      expect(readable(await storedIn(app), wordsOf('gone', 120))).toHaveLength(120)
      expect((await call('DELETE', `/kb/docs/${id}`)).status).toBe(200)
    }
    await app.erase()
    const bytes = await storedIn(app)
    expect(readable(bytes, wordsOf('gone', 120))).toEqual([])
    expect(readable(bytes, wordsOf('first', 120))).toHaveLength(120)
    const found = await kbClient(() => app.url).search(await app.key(), wordOf('last7'))
    expect(found.body.results[0]).toMatchObject({ title: 'last' })
  })

  test('a backup made at once has no word of a deleted document', async () => {
    using folder = tempFolder()
    const [id] = [await add('gone', 6), await add('kept', 120)]
    expect((await call('DELETE', `/kb/docs/${id}`)).status).toBe(200)
    const file = folder.file('b.db')
    expect(await run(['backup', file], app.dataDir)).toMatchObject({ code: 0, err: '' })
    const bytes = readFileSync(file, 'latin1')
    expect(readable(bytes, wordsOf('gone', 6))).toEqual([])
    expect(readable(bytes, wordsOf('kept', 120))).toHaveLength(120)
  })

  test('a backup has no document that waits to be removed', async () => {
    using folder = tempFolder()
    await add('gone', 20)
    await app.db.run({ sql: "UPDATE kb_doc SET stage = 'old'", args: [] })
    await add('kept', 20)
    const file = folder.file('b.db')
    expect(await run(['backup', file], app.dataDir)).toMatchObject({ code: 0, err: '' })
    const bytes = readFileSync(file, 'latin1')
    expect(readable(bytes, wordsOf('gone', 20))).toEqual([])
    expect(readable(bytes, wordsOf('kept', 20))).toHaveLength(20)
  })

  test('no copy of a deleted row is left in the unused part of a page', async () => {
    const statement = (text: string, ...args: (string | number)[]) => ({ sql: text, args })
    const insert = 'INSERT INTO kb_chunk (doc_num, seq, text) VALUES (1, ?, ?)'
    const text = (seq: number) => `${wordOf(`row${seq}`)} ${'-'.repeat((seq * 7919) % 700)}`
    const { tenantId } = await app.key()
    await app.db.run(
      statement(
        `INSERT INTO kb_doc (num, id, tenant_id, title, char_count, chunk_count, created_at,
          embed_model) VALUES (1, 'd', ?, 't', 1, 1000, '', 'words')`,
        tenantId,
      ),
    )
    const rows = Array.from({ length: 1000 }, (_, seq) => seq)
    await app.db.batch(rows.map((seq) => statement(insert, seq, text(seq))))
    const gone = rows.map((at) => (at * 617) % 1000).filter((seq) => (seq * 31) % 10 < 7)
    const remove = 'DELETE FROM kb_chunk WHERE doc_num = 1 AND seq = ?'
    await app.db.batch(gone.map((seq) => statement(remove, seq)))
    await app.erase()
    const words = gone.map((seq) => wordOf(`row${seq}`))
    expect(readable(await storedIn(app), words)).toEqual([])
    expect(readable(await storedIn(app), wordsOf('row', 1000))).toHaveLength(300)
  })

  test('no word of a deleted file is left', async () => {
    const kb = sourcesClient(() => app)
    const key = await app.key()
    const { id } = await kb.ingest(key, textOf('gone', 40))
    await kb.ingest(key, textOf('kept', 40))
    expect(readable(await storedIn(app), wordsOf('gone', 40))).toHaveLength(40)
    expect((await kb.call(key, 'DELETE', `/sources/${id}`)).status).toBe(200)
    await kb.idle()
    await app.erase()
    const bytes = await storedIn(app)
    expect(readable(bytes, wordsOf('gone', 40))).toEqual([])
    expect(readable(bytes, wordsOf('kept', 40))).toHaveLength(40)
  })

  test('no word of a deleted assistant is left, nor of a prompt that it had before', async () => {
    const words = wordsOf('prompt', 16)
    for (const [at, word] of words.entries()) {
      const made = await call<{ id: string }>('POST', '/apps', {
        name: `a${at}`,
        system_prompt: `${word} `.repeat(20),
      })
      const { id } = made.json()
      if (at % 2) await call('PUT', `/apps/${id}`, { name: `a${at}`, system_prompt: 'other' })
      await call('DELETE', `/apps/${id}`)
    }
    await app.erase()
    expect(readable(await storedIn(app), words)).toEqual([])
  })

  test('what an earlier server deleted just before it was killed is erased', async () => {
    const [id] = [await add('gone', 60), await add('kept', 10)]
    expect((await call('DELETE', `/kb/docs/${id}`)).status).toBe(200)
    using copy = tempFolder()
    for (const name of readdirSync(app.dataDir).filter((name) => name.startsWith('moonbase.db'))) {
      await Bun.write(copy.file(name), Bun.file(join(app.dataDir, name)))
    }
    await using next = await startApp({ embedder, dataDir: copy.path })
    expect(readable(await storedIn(next, copy.path), wordsOf('gone', 60))).not.toEqual([])
    await next.erase()
    expect(readable(await storedIn(next, copy.path), wordsOf('gone', 60))).toEqual([])
  })

  test('data that was deleted just before the server stops is not in its file', async () => {
    using folder = tempFolder()
    {
      await using server = await startApp({ embedder, dataDir: folder.path })
      const key = await server.key()
      const kb = kbClient(() => server.url)
      const { body } = await kb.add(key, 'gone', textOf('gone', 60))
      await kb.call(key, 'DELETE', `/docs/${(body as { id: string }).id}`)
    }
    expect(readdirSync(folder.path)).not.toContain('moonbase.db-wal')
    const bytes = readFileSync(folder.file('moonbase.db'), 'latin1')
    expect(readable(bytes, wordsOf('gone', 60))).toEqual([])
  })

  test('every index of readable words can be emptied of deleted entries', async () => {
    const all = await app.db.all<{ name: string }>({
      sql: "SELECT name FROM sqlite_schema WHERE sql LIKE '%USING fts5%'",
      args: [],
    })
    const readable = all.filter(({ name }) => name !== HASHED_INDEX)
    expect(await app.db.all<{ name: string }>(WORD_INDEXES)).toEqual(readable)
    for (const { name } of all) expect(await app.db.get(holdsDeletedWords(name))).toBeNull()
  })
})

test.skipIf(ON_POSTGRES)(
  'a deleted conversation does not rewrite the index of others',
  async () => {
    const talk = await startConversation()
    try {
      const { app, key } = talk
      for (let at = 0; at < 40; at++) {
        const text = wordsOf(`said${at}`, 40).join(' ')
        await (await talk.ask({ text, session_id: `s${at}` })).all()
      }
      await app.db.run({ sql: "INSERT INTO turn_word (turn_word) VALUES ('optimize')", args: [] })
      const pages = () =>
        app.db.all({ sql: 'SELECT id FROM turn_word_data WHERE id > 10 ORDER BY id', args: [] })
      const before = await pages()
      await fetch(`${app.url}/v1/sessions/s7`, { method: 'DELETE', headers: key.headers })
      await app.flush()
      await app.erase()
      expect(await pages()).toEqual(expect.arrayContaining(before))
    } finally {
      await talk.stop()
    }
  },
)

test.skipIf(ON_POSTGRES)('no word of a deleted conversation is left', async () => {
  const talk = await startConversation()
  try {
    const { app, upstream, key } = talk
    const words = [...wordsOf('question', 30), ...wordsOf('reply', 30)]
    for (let at = 0; at < 30; at++) {
      upstream.reply({ text: `${wordOf(`reply${at}`)} `.repeat(30) })
      const body = { text: `${wordOf(`question${at}`)} `.repeat(10), session_id: `s${at % 3}` }
      await (await talk.ask(body)).all()
    }
    expect(readable(await storedIn(app), words)).toHaveLength(60)
    for (let at = 0; at < 3; at++) {
      await fetch(`${app.url}/v1/sessions/s${at}`, { method: 'DELETE', headers: key.headers })
    }
    await app.flush()
    await app.erase()
    expect(readable(await storedIn(app), words)).toEqual([])
  } finally {
    await talk.stop()
  }
})
