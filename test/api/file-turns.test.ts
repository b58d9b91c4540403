import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { caller } from '../support/api.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { filesClient, type Headers } from '../support/chat-files.ts'
import { fakeClock } from '../support/clock.ts'
import { pdfFile } from '../support/pdf-file.ts'
import { oneAxisEmbedder } from '../support/sources.ts'
import { postSse } from '../support/sse.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
let tenants = 0
beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl })
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const { ingest, call } = filesClient(() => app.url)
const freshKey = () => app.key(`turns${++tenants}@example.com`)

type Event = Readonly<Record<string, unknown>> & { readonly type: string }
async function ask(headers: Headers, body: object, surface = '/v1') {
  const stream = await postSse(`${app.url}${surface}/agent`, { headers, body })
  return (await stream.all()).map(({ data }) => data as Event)
}
const refsIn = (events: readonly Event[]) =>
  (events.find(({ type }) => type === 'file_refs')?.refs ?? []) as {
    file_id: string
    name: string
    seq: number
    page: number | null
    score: number | null
  }[]

interface Transcript {
  turns: { details: { files?: object[]; file_refs?: object[] } }[]
}
interface Chat {
  messages: { role: string; content: string }[]
  tools?: { function: { name: string; description: string } }[]
}
const chats = () =>
  upstream.requests
    .filter(({ path }) => path === '/chat/completions')
    .map(({ body }) => body as unknown as Chat)
const system = () => chats().at(-1)?.messages[0]?.content ?? ''
const tools = () =>
  chats()
    .at(-1)
    ?.tools?.map((one) => one.function.name) ?? []

/** 300 pages of which each tells something of its own, in more than 60,000 characters. */
const NAMES = ['walrus', 'falcon', 'badger', 'lizard', 'otter', 'parrot', 'camel', 'moose']
const pageText = (page: number) =>
  Array.from(
    { length: 6 },
    (_, line) => `Section ${page}.${line} is about routine upkeep of building ${page * 7 + line}.`,
  )
const book = () =>
  pdfFile(
    Array.from({ length: 300 }, (_, i) => ({
      lines:
        i === 249 ? ['The secret passphrase of the vault is purple pelican.'] : pageText(i + 1),
    })),
  )

describe('a file in a turn', () => {
  test('a short one is told whole, with the numbers of its pages', async () => {
    const { headers } = await freshKey()
    const pages = NAMES.map((name) => ({ lines: [`This page is about the ${name}.`] }))
    const file = await ingest(headers, pdfFile(pages), 'animals.pdf')
    const events = await ask(headers, { text: 'What is it about?', kb: false, files: [file.id] })
    const types = events.map(({ type }) => type)
    expect(types.indexOf('file_refs')).toBeLessThan(types.indexOf('llm_delta'))
    expect(refsIn(events)).toEqual([
      {
        file_id: file.id,
        name: 'animals.pdf',
        seq: 0,
        page: 1,
        score: null,
        heading: null,
      } as never,
    ])
    expect(system()).toMatch(/【第 2 页】\nThis page is about the falcon\.[\s\S]*【第 3 页】/)
    expect(system()).toContain('"animals.pdf"')
    expect(tools()).toContain('read_file')
  })

  test('of 300 pages the model gets the passage of page 250, and can read on', async () => {
    const { headers } = await freshKey()
    const file = await ingest(headers, book(), 'book.pdf')
    expect(file).toMatchObject({ state: 'ready', pages: 300 })
    expect(file.char_count).toBeGreaterThan(60_000)
    const from = (page: number) => JSON.stringify({ file: 'book.pdf', page, count: 2 })
    upstream.reply({ toolCalls: [{ id: 'c', name: 'read_file', arguments: from(250) }] })
    const question = 'What is the secret passphrase of the vault?'
    const events = await ask(headers, { text: question, files: [file.id] })
    const refs = refsIn(events)
    expect(refs.length).toBeLessThanOrEqual(12)
    expect(refs[0]).toMatchObject({ file_id: file.id, name: 'book.pdf', page: 250 })
    expect(system()).toContain('purple pelican')
    expect(system()).not.toContain('Section 10.1')
    const result = JSON.parse(chats().at(-1)?.messages.at(-1)?.content ?? '{}')
    expect(result.passages[0]).toMatchObject({ page: 250, seq: refs[0]?.seq })
    expect(result.next).toBe((refs[0]?.seq ?? 0) + 2)
  })

  test('later turns of the session search it, and the history names it', async () => {
    const { headers } = await freshKey()
    const v1 = caller(`${app.url}/v1`, headers)
    const file = await ingest(
      headers,
      'The secret passphrase of the vault is purple pelican.',
      'v.txt',
    )
    await ask(headers, { text: 'Read this.', session_id: 's', files: [file.id] })
    const later = { text: 'What is the secret passphrase of the vault?', session_id: 's' }
    expect(refsIn(await ask(headers, later))).toMatchObject([{ file_id: file.id, seq: 0 }])
    expect(system()).toContain('purple pelican')
    expect(tools()).toContain('read_file')
    const other = await ask(headers, { ...later, session_id: 'another' })
    expect(refsIn(other)).toEqual([])
    expect(tools()).not.toContain('read_file')
    const { messages } = (await v1('GET', '/sessions/s/history')).json() as {
      messages: { content: string }[]
    }
    expect(messages[0]?.content).toBe('[文件 v.txt]\nRead this.')
    const transcript = (await v1<Transcript>('GET', '/sessions/s/transcript')).json()
    expect(transcript.turns[0]?.details.file_refs).toHaveLength(1)
    await call(headers, 'DELETE', `/${file.id}`)
    expect(refsIn(await ask(headers, later))).toEqual([])
    expect(tools()).not.toContain('read_file')
  })

  test('a branch has the files of its session', async () => {
    const { headers } = await freshKey()
    const v1 = caller(`${app.url}/v1`, headers)
    const file = await ingest(headers, 'The walrus is grey.', 'w.txt')
    await ask(headers, { text: 'Good day.', session_id: 's' })
    await ask(headers, { text: 'Read this.', session_id: 's', files: [file.id] })
    const made = await v1('POST', '/sessions/s/branch', { seq: 1 })
    await ask(headers, { text: 'Go on.', session_id: made.json().session_id })
    expect(tools()).toContain('read_file')
  })

  test('a branch for a question has no file of later turns, which tell theirs', async () => {
    const { headers } = await freshKey()
    const v1 = caller(`${app.url}/v1`, headers)
    const first = await ingest(headers, 'The walrus is grey.', 'w.txt')
    const second = await ingest(headers, 'The falcon is brown.', 'f.txt')
    await ask(headers, { text: 'Read this.', session_id: 's', files: [first.id] })
    await ask(headers, { text: 'And these.', session_id: 's', files: [first.id, second.id] })
    const { turns } = (await v1<Transcript>('GET', '/sessions/s/transcript')).json()
    const named = [first, second].map(({ id, name }) => ({ file_id: id, name }))
    expect(turns.map(({ details }) => details.files)).toEqual([named, named.slice(0, 1)])
    const branched = async (seq: number) => {
      const made = await v1('POST', '/sessions/s/branch', { seq, for_question: true })
      await ask(headers, { text: 'The animals?', session_id: made.json().session_id })
      const offered = chats()
        .at(-1)
        ?.tools?.find((one) => one.function.name === 'read_file')
      return [first, second].map(({ id }) => offered?.function.description.includes(id) ?? false)
    }
    expect(await branched(0)).toEqual([false, false])
    expect(await branched(1)).toEqual([true, false])
    expect(await branched(2)).toEqual([true, true])
  })

  test('a failed turn leaves no file in its session', async () => {
    const { headers } = await freshKey()
    const file = await ingest(headers, 'The walrus is grey.', 'w.txt')
    upstream.fault(401)
    const failed = await ask(headers, { text: 'Read.', session_id: 's', files: [file.id] })
    expect(failed.at(-1)?.type).toBe('error')
    await ask(headers, { text: 'What colour has the walrus?', session_id: 's' })
    expect(tools()).not.toContain('read_file')
  })

  test('refusals come before the stream', async () => {
    const key = await freshKey()
    const { headers } = key
    const v1 = caller(`${app.url}/v1`, headers)
    const refusal = async (files: unknown, as = v1) => {
      const answer = await as('POST', '/agent', { text: 'x', files, session_id: 's' })
      return [answer.status, answer.headers.get('x-error-code')]
    }
    const stranger = await ingest((await freshKey()).headers, 'x')
    const failed = await ingest(headers, '%PDF-1.4\nno', 'a.pdf')
    expect(await refusal('x')).toEqual([400, 'field_type'])
    expect(await refusal([1])).toEqual([400, 'field_type'])
    expect(await refusal(Array(6).fill('a'))).toEqual([400, 'too_many_items'])
    expect(await refusal(['nope'])).toEqual([404, 'not_found'])
    expect(await refusal([stranger.id])).toEqual([404, 'not_found'])
    expect(await refusal([failed.id, 'nope'])).toEqual([404, 'not_found'])
    expect(await refusal([failed.id])).toEqual([400, 'file_failed'])
    expect(upstream.requests).toEqual([])
  })

  test('a session has 20 files', async () => {
    const { headers } = await freshKey()
    const files: string[] = []
    for (let i = 0; i < 21; i++) files.push((await ingest(headers, `number ${i}`, `${i}.txt`)).id)
    for (let i = 0; i < 20; i += 5) {
      const events = await ask(headers, {
        text: 'x',
        session_id: 's',
        files: files.slice(i, i + 5),
      })
      expect(events.at(-1)?.type).toBe('llm_end')
    }
    const v1 = caller(`${app.url}/v1`, headers)
    const answer = await v1('POST', '/agent', { text: 'x', session_id: 's', files: [files[20]] })
    expect([answer.status, answer.headers.get('x-error-code')]).toEqual([403, 'quota_files'])
  })

  test("an app's turn in a session reaches that app's files only", async () => {
    const mail = `turns${++tenants}@example.com`
    const general = await app.key(mail)
    const v1 = caller(`${app.url}/v1`, general.headers)
    const keys: TestKey[] = []
    for (const name of ['one', 'two']) {
      const { id } = (await v1<{ id: string }>('POST', '/apps', { name })).json()
      keys.push(await app.key(mail, { appId: id }))
    }
    const [one, two] = keys.map(({ headers }) => headers)
    if (!one || !two) throw new Error('no keys')
    const file = await ingest(one, 'The secret passphrase of the vault is purple pelican.', 'v.txt')
    const question = 'What is the secret passphrase of the vault?'
    await ask(one, { text: 'x', session_id: 's', files: [file.id] })
    expect(refsIn(await ask(two, { text: question, session_id: 's' }))).toEqual([])
    expect(tools()).not.toContain('read_file')
    expect(refsIn(await ask(one, { text: question, session_id: 's' }))).toHaveLength(1)
  })
})

describe('a turn while its file is being read', () => {
  test('it waits for the file, and ends when the file fails', async () => {
    const { embedder, hold, reached } = oneAxisEmbedder()
    await using slow = await startApp({ embedder, upstream: upstream.baseUrl })
    const client = filesClient(() => slow.url)
    const { headers } = await slow.key()
    const release = hold('walrus')
    const { body } = await client.upload(headers, 'The walrus is grey.', 'w.txt')
    await reached()
    const stream = await postSse(`${slow.url}/v1/agent`, {
      headers,
      body: { text: 'x', files: [body.id] },
    })
    expect(upstream.requests).toEqual([])
    release()
    const events = (await stream.all()).map(({ data }) => data as Event)
    expect(events.at(-1)?.type).toBe('llm_end')
    expect(system()).toContain('The walrus is grey.')

    const again = hold('otter')
    const second = await client.upload(headers, 'The otter is brown.', 'o.txt')
    await reached()
    const waiting = await postSse(`${slow.url}/v1/agent`, {
      headers,
      body: { text: 'x', files: [second.body.id] },
    })
    await client.call(headers, 'DELETE', `/${second.body.id}`)
    again()
    expect((await waiting.all()).at(-1)?.data).toMatchObject({ type: 'error', code: 'not_found' })
  })

  test('after 60 seconds the turn ends with file_not_ready', async () => {
    const clock = fakeClock()
    const { embedder, hold, reached } = oneAxisEmbedder()
    await using slow = await startApp({ embedder, clock, upstream: upstream.baseUrl })
    const client = filesClient(() => slow.url)
    const { headers } = await slow.key()
    const release = hold('walrus')
    const { body } = await client.upload(headers, 'The walrus is grey.', 'w.txt')
    await reached()
    const stream = await postSse(`${slow.url}/v1/agent`, {
      headers,
      body: { text: 'x', files: [body.id] },
    })
    const ended = stream.all()
    let isOver = false
    void ended.then(() => {
      isOver = true
    })
    while (!isOver) {
      clock.advance(10_000)
      await Bun.sleep(10)
    }
    expect((await ended).at(-1)?.data).toMatchObject({ type: 'error', code: 'file_not_ready' })
    expect(upstream.requests).toEqual([])
    release()
  })
})
