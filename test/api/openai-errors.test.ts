import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { z } from 'zod'
import { appError } from '../../src/core/errors.ts'
import { checked } from '../../src/core/fields.ts'
import { createLogger } from '../../src/core/log.ts'
import { entry } from '../../src/http/entry.ts'
import { errorHandler } from '../../src/http/errors.ts'
import { createRequestContexts } from '../../src/http/observe.ts'
import { caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'

let app: TestApp
let key: Readonly<Record<string, string>>
beforeAll(async () => {
  app = await startApp()
  key = (await app.key()).headers
})
afterAll(() => app[Symbol.asyncDispose]())

const NOT_OFFERED = [
  '/v1/audio/translations',
  '/v1/completions',
  '/v1/moderations',
  '/v1/images/generations',
  '/v1/assistants',
  '/v1/assistants/asst_1',
  '/v1/threads/thread_1/runs',
  '/v1/responses/resp_1/cancel',
  '/v1/responses/input_tokens',
  '/v1/chat/completions/chatcmpl-1/messages',
  '/v1/conversations',
  '/v1/conversations/conv_1/items',
  '/v1/batches',
  '/v1/vector_stores/vs_1/search',
  '/v1/realtime/sessions',
  '/v1/uploads',
  '/v1/containers',
  '/v1/videos',
  '/v1/fine_tuning/jobs',
  '/v1/evals',
]

describe('a path of OpenAI that is not offered', () => {
  test.each(NOT_OFFERED)('%s answers not_found as JSON, with or without a key', async (path) => {
    for (const headers of [key, {}]) {
      const answer = await caller(app.url, headers)('POST', path, {})
      expect(answer.status).toBe(404)
      expect(answer.headers.get('content-type')).toBe('application/json')
      expect(answer.headers.get('x-error-code')).toBe('not_found')
      expect(answer.headers.get('x-request-id')).toBeTruthy()
      expect(answer.json().error).toEqual({
        message: '路径不存在',
        type: 'invalid_request_error',
        param: null,
        code: 'not_found',
      })
    }
  })
})

test.each([
  '/v1/agent',
  '/v1/none',
  '/v1/tts',
  '/v1/audio',
  '/v1/modelsx',
  '/v1/responsesx',
  '/console/embeddings',
])('errors of %s stay one sentence of plain text', async (path) => {
  const answer = await caller(app.url, {})('POST', path, '{')
  expect(answer.status).toBeGreaterThanOrEqual(401)
  expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect(answer.text).not.toStartWith('{')
})

test('a page of another origin may send the session and read what the answer tells', async () => {
  const answer = await caller(app.url, {})('OPTIONS', '/v1/embeddings')
  const allowed = answer.headers.get('access-control-allow-headers')
  expect(allowed).toContain('X-Moonbase-Session')
  const exposed = answer.headers.get('access-control-expose-headers')
  for (const name of ['X-Request-Id', 'X-Moonbase-Channel', 'X-Error-Code', 'Retry-After']) {
    expect(exposed).toContain(name)
  }
})

/** What a route on a path of OpenAI answers when its handler does `work`. */
async function answerOf(work: () => unknown, path = '/v1/embeddings', method = 'POST') {
  const contexts = createRequestContexts(() => 0)
  const log = createLogger({ level: 'error', json: true, now: () => new Date(), write() {} })
  const edge = new Elysia()
    .use(entry(contexts))
    .use(errorHandler({ log, contexts, methodsOf: () => ['POST'], missing: () => null }))
    .post('/v1/embeddings', () => void work())
  const headers = { host: 'box.example' }
  const answer = await edge.handle(new Request(`http://box.example${path}`, { method, headers }))
  const body = (await answer.json()) as { error: { type: string; code: string; param: string } }
  return { status: answer.status, headers: answer.headers, error: body.error }
}

describe('the type and code of an error', () => {
  const field = { field: 'f' }
  const cases: [Error, status: number, type: string, code: string | null][] = [
    [appError('invalid_json'), 400, 'invalid_request_error', null],
    [appError('unsupported_value', field), 400, 'invalid_request_error', 'unsupported_value'],
    [appError('invalid_key'), 401, 'authentication_error', 'invalid_api_key'],
    [appError('forbidden', { who: 'device' }), 403, 'permission_error', 'forbidden'],
    [appError('model_not_found'), 404, 'invalid_request_error', 'model_not_found'],
    [appError('body_too_large'), 413, 'invalid_request_error', 'request_too_large'],
    [appError('rate_limited'), 429, 'rate_limit_error', 'rate_limit_exceeded'],
    [appError('budget_spent'), 429, 'rate_limit_error', 'insufficient_quota'],
    [appError('internal'), 500, 'server_error', null],
    [new Error('a fault'), 500, 'server_error', null],
    [appError('model_retry_exhausted'), 502, 'upstream_error', 'retry_exhausted'],
    [appError('model_upstream_4xx'), 502, 'upstream_error', 'upstream_4xx'],
    [appError('model_provider_error'), 502, 'upstream_error', 'provider_error'],
    [appError('asr_not_configured'), 502, 'upstream_error', 'channel_unavailable'],
    [appError('memory_full'), 503, 'server_error', 'overloaded'],
  ]
  const named = cases.map(([thrown, ...rest]) => [thrown.message, thrown, ...rest] as const)
  test.each(named)('%s has those of its status', async (_, thrown, status, type, code) => {
    const answer = await answerOf(() => {
      throw thrown
    })
    expect(answer.status).toBe(status)
    expect(answer.error).toMatchObject({ type, code })
    expect(answer.headers.get('x-should-retry')).toBe(
      status === 502 || code === 'insufficient_quota' ? 'false' : null,
    )
    expect(answer.headers.has('retry-after')).toBe(status === 503)
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  })

  test('a wrong method has method_not_allowed with Allow', async () => {
    const { status, headers, error } = await answerOf(() => 0, '/v1/embeddings?a=b', 'PUT')
    expect([status, headers.get('allow'), error.code]).toEqual([405, 'POST', 'method_not_allowed'])
  })
})

describe('the param of an error', () => {
  const part = z.discriminatedUnion('type', [
    z.object({ type: z.literal('text'), text: z.string() }),
    z.object({ type: z.literal('image_url') }),
  ])
  const message = z.object({ content: z.union([z.string(), z.array(part)]) })
  const schema = z.object({ messages: z.array(message) })
  const paramOf = async (value: unknown) =>
    (await answerOf(() => checked(schema, value))).error.param

  const text = (value: unknown) => ({ messages: [{ content: [{ type: 'text', text: value }] }] })
  test.each([
    ['messages[1].content', { messages: [{ content: '' }, { content: 3 }] }],
    ['messages[0].content[0].type', { messages: [{ content: [{ type: 'audio' }] }] }],
    ['messages[0].content[0].text', text(3)],
    ['messages', {}],
  ])('the param of an error names the place %s in the body', async (param, body) => {
    expect(await paramOf(body)).toBe(param)
  })
})
