import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { hasJsonErrors } from '../../src/http/error-forms.ts'
import { openApiDocument } from '../../src/http/openapi.ts'
import { type Answer, type Call, caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { errorProblem, isRpcError } from '../support/error-answer.ts'
import { allRoutes, emptyApp, type Route } from '../support/routes.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
let general: Call
let person: Call
let device: Call

beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({
    upstream: upstream.baseUrl,
    env: {
      MB_EMBED_BASE_URL: upstream.baseUrl,
      MB_EMBED_MODEL: 'fake-embed',
      MB_TTS_BASE_URL: upstream.baseUrl,
      MB_ASR_BASE_URL: upstream.baseUrl,
    },
  })
  general = caller(app.url, (await app.key()).headers)
  person = caller(app.url, (await app.person()).headers)
  device = caller(app.url, (await app.key('a@example.com', { deviceId: 'd' })).headers)
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const routes = allRoutes().filter(({ path }) => /^\/(v1|console)\//.test(path))
const reading = routes.filter(({ method }) => method === 'POST' || method === 'PUT')
const callFor = ({ path }: Route) =>
  path.startsWith('/console') ? person : path.endsWith('/heartbeat') ? device : general

/** What a refusal must never hold: traces of the program, the database, the machine, secrets. */
const LEAK =
  /\bat \w+|node_modules|\.ts:|SQLITE|SELECT|constraint|Error:|undefined|\/tmp|sk-mb-|SECRET/i

/** Answered, and if refused, then in the form of our errors; what went wrong for a message. */
function problemOf(path: string, answer: Answer<unknown>): string | null {
  const { status, headers, text } = answer
  if (status >= 500) return `${status} ${text.slice(0, 200)}`
  if (status < 400) return null
  if (isRpcError(answer))
    return LEAK.test(text.replace('Parse error:', '')) ? `leaks: ${text}` : null
  const isJson = headers.get('content-type') === 'application/json'
  if (isJson !== hasJsonErrors(new URL(path, app.url).pathname))
    return `has the form of another path: ${text.slice(0, 200)}`
  const sentence = isJson ? String(JSON.parse(text).error.message) : text
  if (!/^[^\n]{2,160}$/u.test(sentence)) return `not one short sentence: ${text.slice(0, 200)}`
  if (!/\p{Script=Han}/u.test(sentence)) return `not Chinese: ${text}`
  return LEAK.test(text) ? `leaks: ${text}` : errorProblem(answer)
}

const deep = (open: string, close: string) => open.repeat(50_000) + close.repeat(50_000)
const BODIES: readonly (readonly [string, string | Blob])[] = [
  ['nothing', ''],
  ['blank', ' '],
  ['null', 'null'],
  ['an array', '[]'],
  ['a string', '"text"'],
  ['a number', '1'],
  ['half an object', '{"name":'],
  ['a trailing comma', '{"name":"a",}'],
  ['single quotes', "{'name':'a'}"],
  ['a form', 'name=a&text=b'],
  ['NaN', '{"temperature":NaN}'],
  ['deep arrays', deep('[', ']')],
  ['deep objects', `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`],
  ['deep in a field nobody knows', `{"unknown":${deep('[', ']')}}`],
  ['a prototype', '{"__proto__":{"polluted":true,"name":"a","text":"a"}}'],
  ['a constructor', '{"constructor":{"prototype":{"polluted":true}}}'],
  ['a null byte between', '{"name":"a"}\u0000'],
  ['broken UTF-8', new Blob([new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])])],
  ['UTF-16', new Blob([new Uint8Array(Buffer.from('{"name":"a"}', 'utf16le'))])],
]

/** Values that a field may be sent in place of what it takes, as JSON. */
const VALUES = [
  'null',
  'true',
  '-1',
  '0.5',
  '1e308',
  '1e999',
  '9007199254740993',
  '""',
  '" "',
  '"\\u0000"',
  '"a\\u0000b"',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\u202e\\u0007"',
  '"__proto__"',
  '"\'; DROP TABLE app; --"',
  '"{{7*7}}<script>"',
  `"${'长'.repeat(300_000)}"`,
  '[]',
  '[null]',
  '[[[]]]',
  '{}',
  '{"__proto__":null}',
  '{"toString":1}',
  deep('[', ']'),
] as const

const document = openApiDocument(emptyApp())

/** Names of the top-level fields that a route reads, from its own documentation. */
function fieldsOf({ method, path }: Route): string[] {
  const methods = document.paths[path.replace(/:(\w+)\??/g, '{$1}')] as Record<string, unknown>
  const operation = methods?.[method.toLowerCase()] as
    | { requestBody?: { content: Record<string, { schema?: { properties?: object } }> } }
    | undefined
  const schema = operation?.requestBody?.content['application/json']?.schema
  return Object.keys(schema?.properties ?? {})
}

const pathOf = (route: Route) => route.path.replace(/:\w+\??/g, 'none')
const sender = (route: Route) => async (body: string | Blob) => {
  const path = pathOf(route)
  return problemOf(path, await callFor(route)(route.method, path, body))
}

describe.each(reading)('$method $path', (route) => {
  test('a text that is no body gives no 5xx', async () => {
    for (const [name, body] of BODIES) {
      expect([name, await sender(route)(body)]).toEqual([name, null])
    }
  })
})

/**
 * Two paths with the same fields have one handler. Each wrong value goes alone to the first, and
 * beside good ones to the last.
 */
const handlerOf = (route: Route) =>
  [route.method, route.path.replace(/^\/\w+/, ''), ...fieldsOf(route)].join(' ')
const byHandler = Object.values(Object.groupBy(reading, handlerOf)).map((same = []) => ({
  paths: same.map(({ method, path }) => `${method} ${path}`).join(', '),
  same,
}))

describe.each(byHandler)('$paths', ({ same }) => {
  test('wrong values in every field give no 5xx', async () => {
    const route = same[0] as Route
    const send = sender(route)
    for (const field of fieldsOf(route)) {
      for (const value of VALUES) {
        const problem = await send(`{"${field}":${value}}`)
        expect([field, value.slice(0, 40), problem]).toEqual([field, value.slice(0, 40), null])
      }
    }
  })

  test('wrong values beside good ones give no 5xx', async () => {
    const route = same.at(-1) as Route
    const send = sender(route)
    const good = '"name":"a","prompt":"b","text":"c","title":"d","q":"e"'
    for (const field of fieldsOf(route)) {
      for (const value of VALUES) {
        const problem = await send(`{${good},"${field}":${value}}`)
        expect([field, value.slice(0, 40), problem]).toEqual([field, value.slice(0, 40), null])
      }
    }
  })
})

const SEGMENTS = [
  '%00',
  '%E0%A4%A',
  '%',
  '%ED%A0%80',
  '..%2f..%2fetc%2fpasswd',
  '%2e%2e',
  "'%20OR%20'1'='1",
  '__proto__',
  'constructor',
  '*',
  ':id',
  '🦊',
  // Twice in a path it still fits the 16 KB that the runtime reads of a request line and headers.
  'x'.repeat(7_000),
]

describe.each(routes.filter(({ path }) => path.includes(':')))('$method $path', (route) => {
  test.each(SEGMENTS)('the id %p in the path gives no 5xx', async (segment) => {
    const path = route.path.replace(/:\w+\??/g, segment)
    const body = route.method === 'GET' || route.method === 'DELETE' ? undefined : '{}'
    expect(problemOf(path, await callFor(route)(route.method, path, body))).toBeNull()
  })
})

describe.each(routes.filter(({ method }) => method === 'GET'))('$method $path', (route) => {
  const QUERIES = [
    'limit=%00&since=%00&status=%00&endpoint=%00&until=%00',
    'limit=1e9&since=9999999999999999&until=-1&status=NaN',
    'since=%E0%A4%A&session_id=%ED%A0%80&app_id=%',
    'limit[]=1&status[$ne]=200&__proto__[x]=1&__proto__=1',
    `session_id=${'x'.repeat(6_000)}`,
    'limit=1&limit=2&status=200&status=404',
    Array.from({ length: 1_000 }, (_, i) => `a${i}=1`).join('&'),
    '&&==&?=?',
  ]
  test.each(QUERIES)('the query %# gives no 5xx', async (query) => {
    const path = route.path.replace(/:\w+\??/g, 'none')
    expect(problemOf(path, await callFor(route)('GET', `${path}?${query}`))).toBeNull()
  })
})

test('the last value of a repeated JSON key counts, as with JSON.parse', async () => {
  const { headers } = await app.key('twice@example.com')
  const call = caller(app.url, headers)
  const answer = await call('POST', '/v1/apps', '{"name":"one","name":"two","temperature":1}')
  expect([answer.status, answer.json().name]).toEqual([201, 'two'])
})

test('odd characters are stored as sent, or as the replacement character', async () => {
  for (const [sent, kept] of [
    ['a\u0000b', 'a\ufffdb'],
    ['a\\u0000b', 'a\\u0000b'],
    ['\ud800', '\ufffd'],
    ['\u202eabc', '\u202eabc'],
    ['__proto__', '__proto__'],
  ] as const) {
    const body = { name: sent, prompt: 'p' }
    const made = (
      await person<{ id: string; name: string }>('POST', '/console/personas', body)
    ).json()
    expect(made.name).toBe(kept)
    const list = await person<{ personas: { id: string; name: string }[] }>(
      'GET',
      '/console/personas',
    )
    expect(list.json().personas.find(({ id }) => id === made.id)?.name).toBe(kept)
  }
})

test('an import with odd names neither fails nor changes a prototype', async () => {
  const names = ['__proto__', 'constructor', 'toString', 'a\u0000', '\ud800']
  const config = {
    format_version: 1,
    personas: names.map((name) => ({ name, prompt: 'p' })),
    apps: names.map((name) => ({ name, persona_ref: name })),
  }
  const { headers } = await app.person('import@example.com')
  const answer = await caller(app.url, headers)<{ imported: object; errors: string[] }>(
    'POST',
    '/console/import',
    { config },
  )
  expect(answer.json()).toMatchObject({ imported: { personas: 5, apps: 5 }, errors: [] })
})

test('bad input causes no unexpected error and changes no prototype', () => {
  expect('polluted' in {}).toBe(false)
  const unexpected = app
    .log()
    .split('\n')
    .filter((line) => line.includes('"request failed"') || line.includes('"import failed"'))
  expect(unexpected).toEqual([])
})
