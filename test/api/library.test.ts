import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ChosenItem, LibraryResponse } from '../../src/features/knowledge/library/model.ts'
import { caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { type SignedIn, signIn } from '../support/login.ts'
import { longText, oneAxisEmbedder } from '../support/sources.ts'

const { embedder, hold, reached } = oneAxisEmbedder()
let app: TestApp
let people = 0
beforeAll(async () => {
  app = await startApp({ embedder, env: { MB_KB_MAX_DOC_KB: '2' } })
})
afterAll(() => app[Symbol.asyncDispose]())

type Fields = Readonly<Record<string, string>>

interface Shelf {
  readonly call: ReturnType<typeof caller>
  readonly session: SignedIn
  /** Sends a file, which need not have been read. */
  readonly send: (name: string, text: string, fields?: Fields) => Promise<string>
  readonly file: Shelf['send']
  readonly page: (query?: Readonly<Record<string, string>>) => Promise<LibraryResponse>
}

/** Somebody with an empty knowledge base. */
async function shelf(): Promise<Shelf> {
  const session = await signIn(app, `shelf${people++}@example.com`)
  const call = caller(`${app.url}/console`, session.headers)
  const send: Shelf['send'] = async (name, text, fields = {}) => {
    const form = new FormData()
    form.set('file', new File([text], name))
    for (const [field, value] of Object.entries(fields)) form.set(field, value)
    const { 'content-type': _, ...headers } = session.headers as Record<string, string>
    const url = `${app.url}/console/kb/files`
    const answer = await fetch(url, { method: 'POST', headers, body: form })
    expect(answer.status).toBe(202)
    return ((await answer.json()) as { id: string }).id
  }
  return {
    call,
    session,
    send,
    async file(...given) {
      const id = await send(...given)
      await app.jobs.idle()
      return id
    },
    page: async (query = {}) =>
      (await call<LibraryResponse>('GET', `/library?${new URLSearchParams(query)}`)).json(),
  }
}

const titlesOf = ({ items }: LibraryResponse) =>
  items.map(({ source, doc }) => source?.title ?? doc?.title)

const write = ({ call }: Shelf, title: string, text = title) =>
  call<{ id: string }>('POST', '/kb/docs', { title, text })

describe('the list of the knowledge base', () => {
  test('a file is one entry with its parts counted, beside typed documents', async () => {
    const mine = await shelf()
    const id = await mine.file('Rules.md', longText(3))
    await write(mine, 'Typed')
    const page = await mine.page()
    expect(page).toMatchObject({ matching: 2, entries: 2, docs: 4, in_work: 0, failed: 0 })
    expect(page.largest).toEqual({ title: 'Rules', parts: 3 })
    const rules = page.items.find(({ source }) => source?.id === id)?.source
    expect(rules).toMatchObject({ title: 'Rules', parts: 3, state: 'ready', cited_7d: 0 })
    const parts = await mine.call<{ docs: { id: string; part: number }[] }>(
      'GET',
      `/kb/docs?source_id=${id}`,
    )
    expect(parts.json().docs.map(({ part }) => part)).toEqual([1, 2, 3])
    expect(rules?.doc_id).toBe(parts.json().docs[0]?.id ?? '')
  })

  test('pages of every order together have each entry once', async () => {
    const mine = await shelf()
    for (const title of ['beta', 'Alpha', 'gamma', 'Delta']) await write(mine, title)
    await mine.file('epsilon.txt', 'The longest of all of these texts.')
    const walk = async (sort: string) => {
      const pages: LibraryResponse[] = []
      for (const offset of ['0', '2', '4']) {
        pages.push(await mine.page({ sort, limit: '2', offset }))
      }
      expect(pages.map(({ matching }) => matching)).toEqual([5, 5, 5])
      return pages.flatMap(titlesOf)
    }
    expect(await walk('title')).toEqual(['Alpha', 'beta', 'Delta', 'epsilon', 'gamma'])
    expect((await walk('largest'))[0]).toBe('epsilon')
    const newest = await walk('newest')
    expect(newest.toSorted()).toEqual(['Alpha', 'Delta', 'beta', 'epsilon', 'gamma'])
    expect(await walk('oldest')).toEqual(newest.toReversed())
    expect(titlesOf(await mine.page({ offset: '5' }))).toEqual([])
  })

  test('words are looked for in titles, whatever their case and signs', async () => {
    const mine = await shelf()
    for (const title of ['Ölpumpe 50%', 'Pump_A handbook', '泵站维护手册', 'PumpXA']) {
      await write(mine, title)
    }
    const found = async (q: string) => titlesOf(await mine.page({ q })).toSorted()
    expect(await found('pump')).toEqual(['PumpXA', 'Pump_A handbook', 'Ölpumpe 50%'])
    expect(await found('öl')).toEqual(['Ölpumpe 50%'])
    expect(await found('pump_a')).toEqual(['Pump_A handbook'])
    expect(await found('50%')).toEqual(['Ölpumpe 50%'])
    expect(await found('handbook pump')).toEqual(['Pump_A handbook'])
    expect(await found('维护')).toEqual(['泵站维护手册'])
    expect(await found('motor')).toEqual([])
    expect(titlesOf(await mine.page({ title: 'pumpxa' }))).toEqual(['PumpXA'])
    expect(await mine.page({ q: 'motor' })).toMatchObject({ matching: 0, entries: 4, docs: 4 })
  })

  test('a collection and a state narrow the list, and counts of all stay', async () => {
    const mine = await shelf()
    const shop = (
      await mine.call<{ id: string }>('POST', '/kb/collections', { name: 'Shop' })
    ).json()
    await mine.file('Prices.txt', 'A pump costs nine.', { collection_id: shop.id })
    await mine.file('Broken.pdf', '%PDF-1.7 broken')
    await write(mine, 'Typed')
    const of = async (query: Record<string, string>) => titlesOf(await mine.page(query))
    expect(await of({ collection_id: shop.id })).toEqual(['Prices'])
    expect((await of({ collection_id: 'none' })).toSorted()).toEqual(['Broken', 'Typed'])
    expect(await of({ state: 'failed' })).toEqual(['Broken'])
    expect(await of({ state: 'work' })).toEqual([])
    expect(await mine.page({ state: 'failed' })).toMatchObject({
      matching: 1,
      entries: 3,
      failed: 1,
    })
    const unknown = await mine.call('GET', '/library?collection_id=unknown')
    expect(unknown.status).toBe(404)
    expect(titlesOf(await (await shelf()).page())).toEqual([])
  })

  test('a failed file whose new version is in work is found and counted once', async () => {
    const mine = await shelf()
    const id = await mine.file('Rules.pdf', '%PDF-1.7 broken', { origin: 'rules' })
    expect(await mine.page()).toMatchObject({ in_work: 0, failed: 1 })
    const release = hold('【held】')
    try {
      expect(await mine.send('Rules.md', '【held】', { origin: 'rules' })).toBe(id)
      await reached()
      expect(await mine.page()).toMatchObject({ entries: 1, in_work: 1, failed: 0 })
      expect((await mine.page({ state: 'work' })).items).toMatchObject([
        { source: { id, state: 'embedding' } },
      ])
      expect(await mine.page({ state: 'failed' })).toMatchObject({ items: [], matching: 0 })
      const chosen = await mine.call<{ items: ChosenItem[] }>('GET', '/library/chosen')
      expect(chosen.json().items).toMatchObject([{ id, readable: false }])
    } finally {
      release()
    }
    await app.jobs.idle()
    expect(await mine.page()).toMatchObject({ in_work: 0, failed: 0 })
    expect((await mine.page()).items).toMatchObject([{ source: { state: 'ready' } }])
  })

  test('a file that is in work beside its own new version is counted once', async () => {
    const mine = await shelf()
    const release = hold('【first】')
    try {
      const id = await mine.send('Rules.md', '【first】', { origin: 'rules' })
      await reached()
      expect(await mine.send('Rules.md', '【first】 again', { origin: 'rules' })).toBe(id)
      expect(await mine.page()).toMatchObject({ matching: 1, in_work: 1 })
    } finally {
      release()
    }
    await app.jobs.idle()
  })

  test('a file tells how far its newest version is, and the text that it has', async () => {
    const mine = await shelf()
    const id = await mine.file('Rules.md', longText(3), { origin: 'rules' })
    await mine.file('Rules.md', '【坏】', { origin: 'rules' })
    const [item] = (await mine.page()).items
    expect(item?.source).toMatchObject({ id, state: 'embedding', parts: 3 })
    expect(item?.source?.retry_at).not.toBeNull()
    const listed = await mine.call<{ sources: unknown[] }>('GET', '/kb/sources')
    expect(listed.json().sources).toMatchObject([{ id, retry_at: item?.source?.retry_at }])
  })

  test('all that a query fits is chosen with what it holds', async () => {
    const mine = await shelf()
    await mine.file('Pump rules.md', longText(3))
    await write(mine, 'Pump note', 'twelve signs')
    await write(mine, 'Motor')
    const answer = await mine.call<{ items: ChosenItem[] }>('GET', '/library/chosen?q=pump')
    const [note, rules] = answer.json().items.toSorted((a, b) => a.title.localeCompare(b.title))
    expect(note).toMatchObject({ kind: 'doc', title: 'Pump note', parts: 1, char_count: 12 })
    expect(rules).toMatchObject({ kind: 'source', title: 'Pump rules', parts: 3, readable: false })
    expect(answer.json().items).toHaveLength(2)
  })
})
