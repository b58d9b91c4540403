import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { hasJsonErrors } from '../../src/http/error-forms.ts'
import { type Call, caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { allRoutes } from '../support/routes.ts'

interface Operation {
  operationId: string
  summary?: string
  security?: Record<string, never[]>[]
  parameters?: { in: string; name: string }[]
  requestBody?: { required: boolean; content: Record<string, { schema: Schema }> }
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>
}
interface Schema {
  properties?: Record<string, Record<string, unknown>>
  required?: string[]
}
interface Document {
  openapi: string
  servers: { url: string }[]
  info: { version: string }
  paths: Record<string, Record<string, Operation>>
  components: { securitySchemes: Record<string, object> }
}

/** The shared part of both surfaces. */
const SHARED = /^\/(sessions|kb|apps|provider|devices|logs|export|import)(\/|$)/
/** What only one side may call: the code and the device key are machine credentials. */
const MACHINE_ONLY = ['/devices/activate', '/devices/heartbeat']
/** Operations that read no body. */
const BODYLESS_WORDS =
  'default|recode|provider/test|refresh|logout|check|accept|decline|stop|options|sign-.+|rotate|' +
  'cancel|link|run|read|backups|webhooks/\\{id\\}/test'
const BODYLESS = new RegExp(`/(${BODYLESS_WORDS})$`)

let app: TestApp
let call: Call
let document: Document
beforeAll(async () => {
  app = await startApp()
  call = caller(app.url, {})
  document = (await call<Document>('GET', '/openapi.json')).json()
})
afterAll(() => app[Symbol.asyncDispose]())

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
const namesOf = (prefix: string) =>
  operations()
    .filter(({ path }) => path.startsWith(prefix))
    .map(({ method, path }) => `${method} ${path.slice(prefix.length)}`)
    .filter((name) => SHARED.test(name.split(' ')[1] ?? ''))
    .filter((name) => !MACHINE_ONLY.includes(name.split(' ')[1] ?? ''))
    .sort()

test('/openapi.json is public JSON of version 1.0.0, for GET and HEAD', async () => {
  const answer = await call('GET', '/openapi.json')
  expect(answer.headers.get('content-type')).toStartWith('application/json')
  expect(document.openapi).toStartWith('3.1.')
  expect(document.info.version).toBe('1.0.0')
  expect((await call('HEAD', '/openapi.json')).status).toBe(200)
})

test('the API document has what generators of clients need', () => {
  expect(document.servers).toEqual([{ url: '/' }])
  const open = operations().filter(({ operation }) => operation.security?.length === 0)
  const names = open.map(({ method, path }) => `${method} ${path}`)
  expect(names).toContain('post /auth/email/start')
  expect(names).toContain('post /v1/devices/activate')
  expect(names).not.toContain('get /auth/me')
  const schemaOf = (path: string, method: string) =>
    document.paths[path]?.[method]?.requestBody?.content['application/json']?.schema
  const issued = schemaOf('/console/keys', 'post')?.properties
  expect([issued?.rate_limit?.type, issued?.daily_tokens?.type]).toEqual(['integer', 'integer'])
  expect(schemaOf('/v1/chat/completions', 'post')?.properties?.n?.type).toBe('integer')
})

test('the API document describes what visitors of a share may ask', () => {
  const visit = document.paths['/s/{token}']?.post
  expect(visit?.security).toEqual([])
  const body = visit?.requestBody?.content['application/json']?.schema
  expect([body?.required, body?.properties?.text?.maxLength]).toEqual([['text'], 4_000])
  expect(Object.keys(visit?.responses[200]?.content ?? {})).toEqual(['text/event-stream'])
})

test('the API document is valid by the schema of OpenAPI 3.1', async () => {
  const validator = new Validator()
  const { valid, errors = [] } = await validator.validate({ ...document })
  expect(errors).toEqual([])
  expect([valid, validator.version]).toEqual([true, '3.1'])
})

test('the API document lists every route of the surfaces, of login, visitors and triggers', () => {
  // Spellings with an empty id.
  const hidden = ['/v1', '/console'].flatMap((surface) => [
    `GET ${surface}/sessions//history`,
    `GET ${surface}/sessions//transcript`,
    `DELETE ${surface}/kb/docs`,
    `DELETE ${surface}/kb/docs/`,
  ])
  // The page of a share is for browsers.
  hidden.push('GET /s/:token', 'HEAD /s/:token', 'OPTIONS /s/:token')
  hidden.push('GET /s/:token/look', 'OPTIONS /s/:token/feedback')
  const expected = allRoutes()
    .filter(({ path }) => /^\/(v1|console|auth|s|hooks)\//.test(path))
    .map(({ method, path }) => `${method} ${path}`)
    .filter((name) => !hidden.includes(name))
    .map((name) => name.replace(/:(\w+)\??/g, '{$1}'))
  const listed = operations().map(({ method, path }) => `${method.toUpperCase()} ${path}`)
  expect(listed.sort()).toEqual(expected.sort())
})

test('the API document lists the same operations for both surfaces', () => {
  const machine = namesOf('/v1')
  expect(machine.length).toBeGreaterThan(10)
  expect(namesOf('/console')).toEqual(machine)
})

describe('every operation', () => {
  test('every operation has a unique id and a summary', () => {
    const ids = operations().map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    const silent = operations()
      .filter(({ operation }) => !operation.summary)
      .map(({ method, path }) => `${method} ${path}`)
    expect(silent).toEqual([])
  })

  test('every operation names its credential', () => {
    const { securitySchemes } = document.components
    expect(Object.keys(securitySchemes).sort()).toEqual(['console', 'machine'])
    for (const { path, operation } of operations()) {
      if (
        path.startsWith('/auth/') ||
        path.startsWith('/s/') ||
        path.startsWith('/hooks/') ||
        path === '/v1/devices/activate'
      ) {
        expect(operation.security).toBeDefined()
        continue
      }
      const scheme = path.startsWith('/v1/') ? 'machine' : 'console'
      expect({ path, security: operation.security }).toEqual({
        path,
        security: [{ [scheme]: [] }],
      })
    }
  })

  test('every operation that reads a body describes it', () => {
    for (const { method, path, operation } of operations()) {
      const reads = ['post', 'put'].includes(method) && !BODYLESS.test(path)
      expect([method, path, operation.requestBody !== undefined]).toEqual([method, path, reads])
    }
  })

  test('every operation says whether its body may be left out', async () => {
    const json = operations().filter(({ path, operation: { requestBody } }) => {
      // An unknown link of a share is told before its body is read.
      return !/^\/(auth|s)\//.test(path) && requestBody?.content['application/json']
    })
    expect(json.length).toBeGreaterThan(20)
    for (const { method, path, operation } of json) {
      const { headers } = path.startsWith('/v1/') ? await app.key() : await app.operator()
      const filled = path.replaceAll(/\{\w+\}/g, 'unknown')
      const { status } = await call(method.toUpperCase(), filled, '', headers)
      const required = operation.requestBody?.required === true
      expect([method, path, status === 400]).toEqual([method, path, required])
    }
  })

  test('every operation describes its answer and its errors', () => {
    for (const { path, operation } of operations()) {
      const { default: errors, ...answers } = operation.responses
      const type = hasJsonErrors(path) ? 'application/json' : 'text/plain'
      expect(Object.keys(errors?.content ?? {})).toEqual([type])
      expect({ path, answers: Object.keys(answers).length }).not.toEqual({ path, answers: 0 })
    }
  })

  test('every operation has the parameters of its path and no other', () => {
    for (const { path, operation } of operations()) {
      const given = (operation.parameters ?? []).filter(({ in: place }) => place === 'path')
      const expected = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      expect(given.map(({ name }) => name)).toEqual(expected as string[])
    }
  })
})

test('the schemas of the API document are those that requests are checked by', () => {
  const schema = document.paths['/v1/apps']?.post?.requestBody?.content['application/json']?.schema
  expect(schema?.required).toEqual(['name'])
  expect(schema?.properties?.name).toMatchObject({ type: 'string', minLength: 1, maxLength: 60 })
  expect(schema?.properties?.temperature).toMatchObject({
    default: null,
    anyOf: [{ type: 'number', minimum: 0, maximum: 2 }, { type: 'null' }],
  })
  const chat = document.paths['/v1/chat/completions']?.post?.requestBody
  const { messages } = chat?.content['application/json']?.schema.properties ?? {}
  expect(messages).toMatchObject({
    items: { oneOf: [{ required: ['role', 'content'] }, {}, { required: ['role'] }, {}] },
  })
  const answer = document.paths['/v1/apps']?.post?.responses['201']?.content?.['application/json']
  expect(answer?.schema.required).toContain('created_at')
  const stream = document.paths['/v1/agent']?.post?.responses['200']
  expect(Object.keys(stream?.content ?? {})).toEqual(['text/event-stream'])
})
