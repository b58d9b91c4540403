import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../support/app.ts'
import { filesClient } from '../support/chat-files.ts'
import { fakeClock } from '../support/clock.ts'
import { type PageRequest, pictureIn, scannedPdf, scansOf, setScans } from '../support/scans.ts'
import { oneAxisEmbedder, sourcesClient } from '../support/sources.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const { embedder } = oneAxisEmbedder()
const LETTERS = 'This page has quite enough letters to be read as it is.'
let upstream: Upstream
let app: TestApp
let tenants = 0
beforeAll(async () => {
  upstream = await startUpstream()
  const env = { MB_OCR_MAX_PAGES: '4', MB_LLM_MODEL: 'plain' }
  app = await startApp({ embedder, upstream: upstream.baseUrl, env })
})
beforeEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const { ingest, upload, call, get, search, docs, idle } = sourcesClient(() => app)
const files = filesClient(() => app.url)

/** A tenant whose scans are read, its key, and its owner. */
async function tenant(settings?: object) {
  const email = `scans${++tenants}@example.com`
  const key = await app.key(email)
  const person = await app.person(email)
  expect(await setScans(app, person, settings)).toBe(200)
  return { key, person, headers: key.headers }
}

const numbered = () => {
  let page = 0
  upstream.chat.always(() => ({ text: `Scanned text number ${++page} about warranty.` }))
}

describe('scanned pages', () => {
  test('are read by the model, one call a page, and are found with a mark', async () => {
    const { key, headers } = await tenant({ ocr: 'scans', ocr_model: 'seer' })
    numbered()
    const source = await ingest(key, scannedPdf([LETTERS, null, null]), { name: 'a.pdf' })
    expect(source).toMatchObject({
      ...{ state: 'ready', pages: 3, ocr_pages: 2, error: null },
    })
    expect(upstream.requests).toHaveLength(2)
    for (const request of upstream.requests as unknown as PageRequest[]) {
      const { model, temperature, tools, messages } = request.body
      expect({ model, temperature, tools }).toEqual({
        ...{ model: 'seer', temperature: 0, tools: undefined },
      })
      expect(messages).toHaveLength(1)
      expect(await pictureIn(request)).toEqual({ format: 'jpeg', width: 1131, height: 1600 })
    }
    const [doc] = source.doc_ids
    const { chunks } = (await call(key, 'GET', `/docs/${doc}/chunks`)).body
    expect(chunks.map(({ page, ocr }: { page: number; ocr?: true }) => [page, ocr])).toEqual([
      ...[[1, undefined] as const, [2, true] as const, [3, true] as const],
    ])
    const hits = await search(key, 'warranty')
    expect(hits.filter(({ ocr }: { ocr?: true }) => ocr)).toHaveLength(2)

    const file = await files.ingest(headers, scansOf(1), 'b.pdf')
    expect(file).toMatchObject({ state: 'ready', ocr_pages: 1, pages: 1, pages_done: 1 })
    const { passages } = (await files.call(headers, 'GET', `/${file.id}/text`)).body
    expect(passages).toMatchObject([{ page: 1, ocr: true }])
    const kept = (await files.keep(headers, file.id)).body
    expect(kept).toMatchObject({ ocr_pages: 1, pages: 1 })
    const again = (await call(key, 'GET', `/docs/${kept.doc_ids[0]}/chunks`)).body.chunks
    expect(again).toMatchObject([{ page: 1, ocr: true }])
  })

  test('beyond the most of a file stay unread and are counted; empty ones give none', async () => {
    const { key } = await tenant()
    upstream.reply({ text: 'NO_TEXT' })
    upstream.fault('empty')
    upstream.reply({ text: 'The third page.' })
    upstream.reply({ text: 'The fourth page.' })
    const source = await ingest(key, scansOf(6), { name: 'six.pdf' })
    expect(source).toMatchObject({ state: 'ready', pages: 6, ocr_pages: 4, pages_unread: 2 })
    expect(upstream.requests).toHaveLength(4)
    const { chunks } = (await call(key, 'GET', `/docs/${source.doc_ids[0]}/chunks`)).body
    expect(chunks).toHaveLength(2)
  })

  test('are no text where the switch is off, and nothing is sent', async () => {
    const { key, headers } = await tenant({ ocr: 'off' })
    const source = await ingest(key, scansOf(1), { name: 'a.pdf' })
    expect(source).toMatchObject({ state: 'failed', error_class: 'no_text' })
    expect(source.readable_until).toBeUndefined()
    const png = await new Bun.Image(await jpeg(20, 20)).png().bytes()
    expect((await upload(key, png, { name: 'a.png' })).status).toBe(415)
    expect((await files.upload(headers, png, 'a.png')).status).toBe(415)
    expect(upstream.requests).toHaveLength(0)
    expect(await setScans(app, await app.person('bad@example.com'), { ocr: 'all' })).toBe(400)
    expect(await setScans(app, await app.person('bad@example.com'), { ocr_model: 1 })).toBe(400)
  })

  test('a model that cannot see is asked once; another one reads the file', async () => {
    const { key, person } = await tenant()
    upstream.chat.alwaysFault(400)
    const failed = await ingest(key, scansOf(3), { name: 'a.pdf' })
    expect(failed).toMatchObject({ state: 'failed', error_class: 'no_vision' })
    expect(failed.error).toBe('所选模型不能看图')
    expect(upstream.requests).toHaveLength(1)
    expect(await docs(key)).toEqual([])

    numbered()
    await setScans(app, person, { ocr: 'scans', ocr_model: 'seer' })
    const again = () => call(key, 'POST', `/sources/${failed.id}/refresh`)
    const asked = await Promise.all([again(), again(), again()])
    expect(asked.map(({ status }) => status)).toEqual([202, 202, 202])
    await idle()
    expect(await get(key, failed.id)).toMatchObject({ state: 'ready', ocr_pages: 3 })
    expect(upstream.requests).toHaveLength(4)
    expect((await call(key, 'POST', `/sources/${failed.id}/refresh`)).status).toBe(400)
  })

  test('a refusal of a later page fails the file, and the pages before are kept', async () => {
    const { key } = await tenant()
    upstream.reply({ text: 'The first page.' })
    upstream.fault(422)
    upstream.fault(422)
    const failed = await ingest(key, scansOf(3), { name: 'a.pdf' })
    expect(failed).toMatchObject({ state: 'failed', error_class: 'upstream', ocr_pages: 1 })
    expect(await docs(key)).toEqual([])
    const sent = upstream.requests.length
    numbered()
    await call(key, 'POST', `/sources/${failed.id}/refresh`)
    await idle()
    expect(await get(key, failed.id)).toMatchObject({ state: 'ready', ocr_pages: 3 })
    expect(upstream.requests).toHaveLength(sent + 2)
  })

  test('count for the key that sent them, and wait for its tokens', async () => {
    const { key, person } = await tenant()
    const limited = await app.key(`scans${tenants}@example.com`)
    const put = (daily_tokens: number) =>
      fetch(`${app.url}/console/keys/${limited.id}`, {
        method: 'PUT',
        headers: { ...person.headers, origin: app.url, 'content-type': 'application/json' },
        body: JSON.stringify({ daily_tokens }),
      })
    expect((await put(150)).status).toBe(200)
    upstream.chat.always({ text: 'Page.', usage: { input: 90, output: 10 } })
    const failed = await ingest(limited, scansOf(4), { name: 'a.pdf' })
    expect(failed).toMatchObject({ state: 'failed', error_class: 'budget' })
    expect(failed.ocr_pages).toBeGreaterThan(1)
    const sent = upstream.requests.length
    expect(sent).toBe(failed.ocr_pages)
    expect(await files.ingest(limited.headers, scansOf(1), 'b.pdf')).toMatchObject({
      ...{ state: 'failed', error_class: 'budget' },
    })
    expect(upstream.requests).toHaveLength(sent)

    expect((await put(100_000)).status).toBe(200)
    expect((await call(key, 'POST', `/sources/${failed.id}/refresh`)).status).toBe(202)
    await idle()
    expect(await get(key, failed.id)).toMatchObject({ state: 'ready', ocr_pages: 4 })
    expect(upstream.requests).toHaveLength(4)
    const usage = await fetch(`${app.url}/console/usage`, { headers: person.headers })
    const { by_key } = (await usage.json()) as {
      by_key: { key_id: string; input_tokens: number }[]
    }
    expect(by_key.find(({ key_id }) => key_id === limited.id)).toMatchObject({ input_tokens: 360 })
  })

  test('of a file to talk about are read again, by those who see it alone', async () => {
    const { headers, person } = await tenant()
    const other = await tenant()
    upstream.reply({ text: 'The first page.' })
    upstream.fault(422)
    upstream.fault(422)
    const failed = await files.ingest(headers, scansOf(3), 'a.pdf')
    expect(failed).toMatchObject({ state: 'failed', error_class: 'upstream', ocr_pages: 1 })
    expect(Date.parse(failed.readable_until ?? '')).toBeGreaterThan(Date.now())
    const again = (by: Readonly<Record<string, string>>) =>
      files.call(by, 'POST', `/${failed.id}/refresh`)
    expect((await again(other.headers)).status).toBe(404)
    const sent = upstream.requests.length
    numbered()
    const twice = await Promise.all([again(person.headers), again(headers)])
    expect(twice.map(({ status }) => status).sort()).toEqual([202, 400])
    const asked = twice.find(({ status }) => status === 202)
    expect(asked?.body).toMatchObject({ id: failed.id, state: 'reading', error_class: null })
    await idle()
    const read = await files.get(headers, failed.id)
    expect(read).toMatchObject({ state: 'ready', ocr_pages: 3 })
    expect(read.readable_until).toBeUndefined()
    expect(upstream.requests).toHaveLength(sent + 2)
    expect((await again(headers)).code).toBe('not_refreshable')
  })

  test('are counted in an export, and come back with an import', async () => {
    const { key } = await tenant()
    numbered()
    const source = await ingest(key, scansOf(6), { name: 'a.pdf' })
    expect(source).toMatchObject({ ocr_pages: 4, pages_unread: 2 })
    const file = await (await fetch(`${app.url}/v1/export?kb=1`, { headers: key.headers })).text()
    const target = await tenant()
    const sent = { method: 'POST', headers: target.headers, body: file }
    expect((await fetch(`${app.url}/v1/import?kb=1`, sent)).status).toBe(200)
    const { body } = await call(target.key, 'GET', '/sources')
    expect(body.sources).toMatchObject([{ pages: 6, ocr_pages: 4, pages_unread: 2 }])
  })

  test('of a deleted file are read no further; another tenant cannot ask for them', async () => {
    const { key } = await tenant()
    const { key: other } = await tenant()
    const gate = Promise.withResolvers<void>()
    upstream.chat.always({ text: 'A page.', holdHeaders: gate.promise })
    const { body } = await upload(key, scansOf(4), { name: 'a.pdf' })
    await upstream.nextRequest()
    expect(await get(key, body.id)).toMatchObject({ state: 'reading', pages: 4, pages_done: 0 })
    expect((await call(other, 'POST', `/sources/${body.id}/refresh`)).status).toBe(404)
    expect((await call(key, 'DELETE', `/sources/${body.id}`)).status).toBe(200)
    await upstream.aborted()
    gate.resolve()
    await idle()
    expect(upstream.requests).toHaveLength(1)
    expect(await docs(key)).toEqual([])
  })
})

const jpeg = async (width: number, height: number): Promise<Uint8Array> => {
  const row = Math.ceil((width * 3) / 4) * 4
  const bitmap = Buffer.alloc(54 + row * height, 200)
  bitmap.fill(0, 0, 54).write('BM')
  for (const [at, value] of [
    [10, 54],
    [14, 40],
    [18, width],
    [22, height],
  ] as const) {
    bitmap.writeInt32LE(value, at)
  }
  bitmap.writeUInt16LE(1, 26)
  bitmap.writeUInt16LE(24, 28)
  return new Bun.Image(bitmap).jpeg().bytes()
}

describe('pictures', () => {
  test('are documents of one page, drawn smaller, also in conversations', async () => {
    const { key, headers } = await tenant()
    numbered()
    const large = await jpeg(4_000, 1_000)
    const webp = await new Bun.Image(large).resize(300, 200).webp().bytes()
    const source = await ingest(key, large, { name: 'photo.txt' })
    expect(source).toMatchObject({ media_type: 'image/jpeg', state: 'ready', pages: 1 })
    const [request] = upstream.requests as unknown as PageRequest[]
    expect(await pictureIn(request as PageRequest)).toMatchObject({ width: 1600, height: 400 })
    expect(await files.ingest(headers, webp, 'b.webp')).toMatchObject({
      ...{ media_type: 'image/webp', state: 'ready', ocr_pages: 1, pages: 1 },
    })
  })

  test('that are damaged, too many bytes or too many pixels are refused', async () => {
    const { key } = await tenant()
    const png = await new Bun.Image(await jpeg(200, 200)).png().bytes()
    const broken = await ingest(key, png.slice(0, 60), { name: 'a.png' })
    expect(broken).toMatchObject({ state: 'failed', error_class: 'malformed' })
    const padded = Buffer.concat([png, Buffer.alloc(10 * 1024 * 1024)])
    expect((await upload(key, padded, { name: 'b.png' })).status).toBe(413)
    const bomb = Buffer.from(png)
    bomb.writeUInt32BE(60_000, 16)
    bomb.writeUInt32BE(60_000, 20)
    const refused = await ingest(key, bomb, { name: 'c.png' })
    expect(refused).toMatchObject({ state: 'failed', error_class: 'malformed' })
    expect(upstream.requests).toHaveLength(0)
  })
})

test('a failed file can be read again for a day, and then nothing of it is left', async () => {
  const clock = fakeClock()
  await using timed = await startApp({ embedder, clock, upstream: upstream.baseUrl })
  const client = sourcesClient(() => timed)
  const key = await timed.key('day@example.com')
  await setScans(timed, await timed.person('day@example.com'))
  upstream.chat.alwaysFault(400)
  const failed = await client.ingest(key, scansOf(2), { name: 'a.pdf' })
  const until = clock.now() + 24 * 60 * 60_000
  expect(failed.readable_until).toBe(new Date(until).toISOString())
  clock.advance(24 * 60 * 60_000)
  await timed.prune()
  const later = await timed.key('day@example.com')
  expect((await client.get(later, failed.id)).readable_until).toBeUndefined()
  expect((await client.call(later, 'POST', `/sources/${failed.id}/refresh`)).status).toBe(400)
})
