import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LastTest } from '../../src/features/system/model.ts'
import { caller } from '../support/api.ts'
import { startApp } from '../support/app.ts'
import { startMailServer } from '../support/mail-server.ts'
import { byName, systemUnderTest } from '../support/system.ts'

const SECRET = 'sk-secret-of-the-platform-9876'

// Before the server, whose open connections the mail server waits for.
let mail: Awaited<ReturnType<typeof startMailServer>>
beforeAll(async () => {
  mail = await startMailServer()
})
const { app, upstream, call, put, tenant, turn, trial } = systemUnderTest()
afterAll(() => mail.stop())

test('a model set in the console answers the next turn of every tenant', async () => {
  const [first] = await turn()
  expect(first).toBeDefined()
  expect(upstream().requests).toEqual([])
  const answer = await put({
    MB_LLM_BASE_URL: upstream().baseUrl,
    MB_LLM_API_KEY: SECRET,
    MB_LLM_MODEL: 'm1',
  })
  expect(answer.status).toBe(200)
  expect(byName(answer.json().settings).MB_LLM_MODEL).toEqual({
    name: 'MB_LLM_MODEL',
    value: 'm1',
    secret_tail: null,
    source: 'console',
    locked: false,
  })
  upstream().reply({ text: '新模型' })
  expect(JSON.stringify(await turn())).toContain('新模型')
  const request = await upstream().nextRequest('/chat/completions')
  expect(request.headers.authorization).toBe(`Bearer ${SECRET}`)
  expect(request.body.model).toBe('m1')
  expect(await trial('llm')).toMatchObject({ ok: true })
  await put({ MB_LLM_BASE_URL: null })
  expect(await trial('llm')).toMatchObject({ ok: false, text: 'not configured' })
})

test('sign-up and mail change at once, and a mail to the operator proves it', async () => {
  await put({ MB_SIGNUP: 'closed', MB_SMTP_URL: mail.url })
  const methods = await (await fetch(`${app().url}/auth/methods`)).json()
  expect(methods.email_delivery).toBe('mail')
  const incoming = mail.next()
  expect(await trial('mail')).toMatchObject({ ok: true, text: 'operator@example.com' })
  expect((await incoming).to).toEqual(['operator@example.com'])
  await fetch(`${app().url}/auth/email/start`, {
    method: 'POST',
    body: '{"email":"stranger@example.com"}',
  })
  const code = mail.next()
  await fetch(`${app().url}/auth/email/start`, {
    method: 'POST',
    body: '{"email":"tenant@example.com"}',
  })
  expect((await code).to).toEqual(['tenant@example.com'])
  expect(mail.mails).toHaveLength(3)
  mail.state.refuses = true
  expect(await trial('mail')).toMatchObject({
    ok: false,
    text: expect.stringContaining('EENVELOPE'),
  })
})

test('private hosts that tenants may name change at once, also for what is saved', async () => {
  const person = caller(`${app().url}/console`, (await app().person('tenant@example.com')).headers)
  const channel = { base_url: upstream().baseUrl, api_key: 'k', failover: false }
  expect((await person('PUT', '/provider', channel)).status).toBe(400)
  await put({ MB_ALLOW_PRIVATE_HOSTS: `127.0.0.1:${upstream().port}` })
  expect((await person('PUT', '/provider', channel)).status).toBe(200)
  expect((await person('POST', '/provider/test')).json()).toMatchObject({ ok: true })
  await put({ MB_ALLOW_PRIVATE_HOSTS: null })
  expect((await person('POST', '/provider/test')).json()).toMatchObject({ ok: false })
  await person('DELETE', '/provider')
})

test('a change of the embedding endpoint embeds the documents again, also back', async () => {
  const v1 = caller(`${app().url}/v1`, tenant().headers)
  await v1('POST', '/kb/docs', { title: '保修', text: '保修期为两年，凭发票办理。' })
  const models = async () => {
    const query = 'SELECT DISTINCT embed_model AS model FROM kb_doc'
    const rows = await app().db.all<{ model: string }>({ sql: query, args: [] })
    return rows.map(({ model }) => model)
  }
  const [local] = await models()
  await put({ MB_EMBED_BASE_URL: upstream().baseUrl, MB_EMBED_MODEL: 'e1' })
  await app().jobs.idle()
  expect(await models()).toEqual([`${new URL(upstream().baseUrl).host}:e1`])
  expect(await trial('embedding')).toMatchObject({ ok: true, text: expect.stringContaining('64') })
  const found = await v1<{ results: { title: string }[] }>('POST', '/kb/search', { q: '保修期' })
  expect(found.json().results[0]?.title).toBe('保修')
  await put({ MB_EMBED_BASE_URL: null, MB_EMBED_MODEL: null })
  await app().jobs.idle()
  expect(await models()).toEqual([local ?? ''])
})

test('speech, recognition, search and reranking are there once they are set', async () => {
  const v1 = caller(`${app().url}/v1`, tenant().headers)
  await put({ MB_TTS_KIND: 'none', MB_ASR_KIND: 'none' })
  for (const part of ['tts', 'asr', 'search', 'rerank']) {
    expect(await trial(part)).toMatchObject({ ok: false, text: 'not configured' })
  }
  expect((await v1('POST', '/tts', { text: '你好' })).status).toBe(502)
  await put({
    ...{ MB_TTS_KIND: null, MB_TTS_BASE_URL: upstream().baseUrl },
    ...{ MB_ASR_KIND: null, MB_ASR_BASE_URL: upstream().baseUrl },
    MB_RERANK_BASE_URL: upstream().baseUrl,
    MB_LLM_BASE_URL: upstream().baseUrl,
    MB_SEARCH_URL: 'http://127.0.0.1:9/',
  })
  upstream().speech.reply({ rate: 22_050, ms: 100, contentType: 'audio/pcm;rate=22050' })
  expect((await v1('POST', '/tts', { text: '你好' })).status).toBe(200)
  upstream().speech.reply({ rate: 22_050, ms: 100, contentType: 'audio/pcm;rate=22050' })
  for (const part of ['tts', 'asr', 'rerank']) {
    expect({ part, ...(await trial(part)) }).toMatchObject({ part, ok: true })
  }
  expect(await trial('search')).toMatchObject({ ok: false })
  await turn()
  const { body } = await upstream().nextRequest('/chat/completions')
  expect(JSON.stringify(body.tools)).toContain('web_search')
})

test('model servers on this machine are found with their models', async () => {
  const ollama = 'http://127.0.0.1:11434/v1/models'
  const pretend = async (input: string | URL | Request, init?: RequestInit) =>
    String(input) === ollama
      ? Response.json({ data: [{ id: 'bge-m3:latest' }, { id: 'qwen3:8b' }] })
      : Promise.reject(new Error(`nothing at ${String(input)} ${init?.method}`))
  await using local = await startApp({ fetch: pretend as typeof fetch })
  const operator = caller(`${local.url}/console`, (await local.operator()).headers)
  expect((await operator('GET', '/system/local-models')).json()).toEqual({
    servers: [
      {
        name: 'Ollama',
        base_url: 'http://127.0.0.1:11434/v1',
        models: ['qwen3:8b', 'bge-m3:latest'],
      },
    ],
  })
})

test('the page of the model pack lists the files that exist', async () => {
  await using local = await startApp()
  const operator = caller(`${local.url}/console`, (await local.operator()).headers)
  const pack = async () => (await operator('GET', '/system/model-pack')).json()
  const folder = join(local.dataDir, 'packs', 'model')
  const nothing = { folder, program: null, model: null, complete: false, running: false }
  expect(await pack()).toEqual(nothing)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'Qwen3-4B.gguf'), '')
  expect(await pack()).toEqual({ ...nothing, model: 'Qwen3-4B.gguf' })
  writeFileSync(join(folder, 'llama-server'), '', { mode: 0o755 })
  const whole = { program: 'llama-server', model: 'Qwen3-4B.gguf', complete: true }
  expect(await pack()).toEqual({ ...nothing, ...whole })
})

test('an empty list of models has the reason', async () => {
  const list = async (base_url: string) =>
    (await call('POST', '/system/models', { base_url })).json()
  upstream().models.fault(401)
  expect(await list(upstream().baseUrl)).toEqual({ models: [], error_class: 'unauthorized' })
  expect(await list('http://127.0.0.1:9/v1')).toEqual({
    models: [],
    error_class: 'connection_failed',
  })
  expect(await list(upstream().baseUrl.replace('/v1', '/v9'))).toMatchObject({
    error_class: 'no_list',
  })
  expect(await list('file:///etc/passwd')).toMatchObject({ models: [] })
})

test('the last test of each part is kept until a setting of the part changes', async () => {
  const tests = async () => {
    const shown = (await call('GET', '/system')).json() as { tests: LastTest[] }
    return shown.tests.map(({ at, ...test }) => {
      expect(Date.parse(at)).toBeGreaterThan(0)
      return test
    })
  }
  await put({ MB_LLM_BASE_URL: upstream().baseUrl, MB_LLM_MODEL: 'one', MB_SEARCH_URL: null })
  const [llm, search] = [await trial('llm'), await trial('search')]
  expect(llm).toMatchObject({ ok: true })
  expect(search).toMatchObject({ ok: false, text: 'not configured' })
  const shown = await tests()
  expect(shown).toContainEqual({ part: 'llm', ...llm })
  expect(shown).toContainEqual({ part: 'search', ...search })
  upstream().fault(401)
  const refused = await trial('llm')
  expect(refused.ok).toBe(false)
  const again = (await tests()).filter(({ part }) => part === 'llm')
  expect(again).toEqual([{ part: 'llm', ...refused }])
  await put({ MB_LLM_MODEL: 'two' })
  expect((await tests()).map(({ part }) => part)).not.toContain('llm')
  expect(await tests()).toContainEqual({ part: 'search', ...search })
})
