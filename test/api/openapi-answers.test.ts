import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { openApiDocument } from '../../src/http/openapi.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { tone, wav } from '../support/recordings.ts'
import { emptyApp } from '../support/routes.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

interface Described {
  readonly content?: Readonly<Record<string, { readonly schema: object }>>
}

const paths = openApiDocument(emptyApp()).paths as Readonly<
  Record<string, Readonly<Record<string, { responses: Readonly<Record<string, Described>> }>>>
>
const ajv = new Ajv2020({ strict: false })

let upstream: Upstream
let app: TestApp
let machine: Readonly<Record<string, string>>
let person: Readonly<Record<string, string>>
beforeAll(async () => {
  upstream = await startUpstream()
  const speech = { MB_TTS_BASE_URL: upstream.baseUrl, MB_ASR_BASE_URL: upstream.baseUrl }
  app = await startApp({ upstream: upstream.baseUrl, env: speech })
  machine = (await app.key()).headers
  person = (await app.person()).headers
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

type Fields = Readonly<Record<string, unknown>>

/** `operation` is a method and a path of the document, which `ids` fills. */
async function send(operation: string, body?: Fields | FormData, ids: Fields = {}) {
  const [method = '', path = ''] = operation.split(' ')
  const isForm = body instanceof FormData
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(ids[name])))
  const answer = await fetch(app.url + filled, {
    method,
    headers: {
      ...(path.startsWith('/v1/') ? machine : person),
      ...(isForm ? {} : { 'content-type': 'application/json' }),
    },
    ...(body && { body: isForm ? body : JSON.stringify(body) }),
  })
  const type = (answer.headers.get('content-type') ?? '').split(';')[0] ?? ''
  const text = await answer.text()
  const json = type === 'application/json' ? JSON.parse(text) : null
  const { responses } = paths[path]?.[method.toLowerCase()] ?? { responses: {} }
  const described = responses[answer.status] ?? responses.default
  return { status: answer.status, type, json, described }
}

/** Sends it, and compares the answer with its description; returns the JSON of the answer. */
async function compare(operation: string, status: number, body?: Fields | FormData, ids?: Fields) {
  const { type, json, described, ...got } = await send(operation, body, ids)
  expect([operation, got.status]).toEqual([operation, status])
  expect(Object.keys(described?.content ?? {})).toContain(type)
  const schema = described?.content?.[type]?.schema
  if (json && schema) {
    const valid = ajv.compile(schema)
    valid(json)
    expect([operation, valid.errors]).toEqual([operation, null])
  }
  return json
}

function form(name: string, content: BlobPart, fields: Fields = {}) {
  const data = new FormData()
  data.set('file', new File([content], name))
  for (const [field, value] of Object.entries(fields)) data.set(field, String(value))
  return data
}

const HI = [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }]
const CLOCK = { type: 'function', function: { name: 'clock' } }

describe('answers are as the API document describes them', () => {
  test('completions and responses are as the API document says, streamed or not', async () => {
    await compare('POST /v1/chat/completions', 200, { messages: HI })
    await compare('POST /v1/chat/completions', 200, { messages: HI, stream: true })
    upstream.chat.reply({ toolCalls: [{ name: 'clock', arguments: {} }] })
    await compare('POST /v1/chat/completions', 200, { messages: HI, tools: [CLOCK] })
    await compare('POST /v1/responses', 200, { input: 'hi', tools: [], conversation: 'c' })
    upstream.chat.reply({ toolCalls: [{ name: 'clock', arguments: {} }] })
    await compare('POST /v1/responses', 200, {
      input: 'hi',
      tools: [
        { type: 'function', name: 'clock' },
        { type: 'file_search', vector_store_ids: ['kb'] },
      ],
    })
    await compare('POST /v1/responses', 200, { input: 'hi', stream: true })
    await compare('GET /v1/models', 200)
    await compare('GET /v1/models/{id}', 200, undefined, { id: 'moonbase' })
    await compare('GET /v1/models/{id}', 404, undefined, { id: 'none' })
    await compare('POST /v1/chat/completions', 400, { messages: [] })
    await compare('POST /v1/agent', 200, { text: 'hi' })
  })

  test('answers of knowledge base, files and embeddings are as the API document says', async () => {
    const { id } = await compare('POST /v1/kb/docs', 201, { title: 'a', text: '保修两年。' })
    await compare('GET /v1/kb/docs', 200)
    await compare('GET /v1/kb/docs/{id}/chunks', 200, undefined, { id })
    await compare('POST /v1/kb/search', 200, { q: '保修' })
    const source = await compare(
      'POST /v1/kb/files',
      202,
      form('b.txt', '电池一年。', { title: 'b' }),
    )
    await compare('GET /v1/kb/sources/{id}', 200, undefined, source)
    await compare('GET /console/kb/sources', 200)
    await compare('GET /v1/kb/limits', 200)
    await compare('POST /v1/kb/files', 400, new FormData())
    for (const encoding_format of ['float', 'base64']) {
      await compare('POST /v1/embeddings', 200, { input: ['a'], encoding_format })
    }
    await compare('POST /v1/responses', 200, {
      input: '保修多久',
      tools: [{ type: 'file_search', vector_store_ids: ['kb'] }],
    })
    await compare('POST /v1/chat/completions', 200, {
      messages: [{ role: 'user', content: '保修两年。' }],
    })
  })

  test('answers of speech in all its forms are as the API document says', async () => {
    for (const response_format of ['mp3', 'wav', 'pcm', 'opus']) {
      await compare('POST /v1/audio/speech', 200, {
        input: 'hi',
        voice: { id: 'a' },
        response_format,
      })
    }
    await compare('POST /v1/audio/speech', 200, { input: 'hi', stream_format: 'sse' })
    await compare('POST /v1/tts', 200, { text: 'hi' })
    await compare('POST /v1/tts/stream', 200, { text: 'hi' })
    const sound = new Uint8Array(wav(16_000, tone(16_000, 1)))
    for (const response_format of ['json', 'verbose_json', 'text', 'srt', 'vtt']) {
      await compare('POST /v1/audio/transcriptions', 200, form('a.wav', sound, { response_format }))
    }
    await compare('POST /v1/audio/transcriptions', 200, form('a.wav', sound, { stream: true }))
  })

  test('answers and errors of MCP are as the API document says', async () => {
    const rpc = { jsonrpc: '2.0', id: 1 }
    await compare('POST /v1/mcp', 200, { ...rpc, method: 'tools/list' })
    const params = { name: 'ask_agent', arguments: { text: 'hi' } }
    await compare('POST /v1/mcp', 200, { ...rpc, method: 'tools/call', params })
    await compare('POST /v1/mcp', 400, { jsonrpc: '2.0', id: 1 })
  })

  test('answers on what the console manages are as the API document says', async () => {
    const made = await compare('POST /console/apps', 201, { name: 'a', temperature: null })
    await compare('GET /v1/apps', 200)
    await compare('PUT /console/apps/{id}', 200, { name: 'b', temperature: 1 }, made)
    await compare('POST /console/keys', 201, { name: 'k' })
    await compare('GET /console/keys', 200)
    await compare('GET /console/usage', 200)
    await compare('GET /console/mcp-servers', 200)
    await compare('GET /console/logs', 200)
    await compare('GET /v1/sessions', 200)
    await compare('GET /v1/export', 200)
    await compare('POST /console/apps', 400, {})
  })
})
