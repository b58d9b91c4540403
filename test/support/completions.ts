import { expect } from 'bun:test'
import type { KeyScope } from '../../src/features/keys/service.ts'
import type { TestApp } from './app.ts'

/** One chunk of a chat completion, as clients read it. */
export interface Chunk {
  readonly id: string
  readonly created: number
  readonly model: string
  readonly choices: readonly {
    readonly delta: {
      readonly role?: string
      readonly content?: string
      readonly reasoning_content?: string
      readonly annotations?: readonly { readonly url_citation: { title: string; url: string } }[]
      readonly tool_calls?: readonly { id: string; function: { name: string; arguments: string } }[]
    }
    readonly finish_reason: string | null
  }[]
  readonly usage?: { readonly total_tokens: number } | null
  readonly moonbase?: Readonly<Record<string, unknown>>
  readonly error?: { readonly message: string; readonly type: string; readonly code: string }
}

/** A whole answer, or an error. */
export interface Completion {
  readonly id: string
  readonly model: string
  readonly choices: readonly [
    {
      readonly finish_reason: string
      readonly message: {
        readonly content: string | null
        readonly reasoning_content?: string
        readonly annotations: readonly object[]
        readonly tool_calls?: readonly { readonly id: string }[]
      }
    },
  ]
  readonly usage: { readonly completion_tokens: number; readonly total_tokens: number }
  readonly moonbase: Readonly<Record<string, unknown>>
  readonly error: {
    readonly message: string
    readonly type: string
    readonly param: string | null
    readonly code: string | null
  }
}

/**
 * The frames of a stream, a letter each: role, annotations, fallback, content, reasoning, server
 * tool (told and done), client call, finish, usage, done and error.
 */
const LETTERS: readonly (readonly [letter: string, is: (chunk: Chunk) => unknown])[] = [
  ['E', (chunk) => chunk.error],
  ['U', ({ choices }) => choices.length === 0],
  ['S', ({ choices }) => choices[0]?.finish_reason],
  ['R', ({ choices }) => choices[0]?.delta.role],
  ['A', ({ choices }) => choices[0]?.delta.annotations],
  ['K', ({ choices }) => choices[0]?.delta.tool_calls],
  ['C', ({ choices }) => choices[0]?.delta.content],
  ['r', ({ choices }) => choices[0]?.delta.reasoning_content],
  ['F', ({ moonbase }) => moonbase?.provider_fallback],
  ['t', ({ moonbase }) => moonbase?.tool_call],
  ['T', ({ moonbase }) => moonbase?.tool_result],
]

/** The order of frames. Text never comes before a fallback, nothing comes after an error. */
const ORDER = /^RA?[rtT]*F?[rtTC]*(K*SU?D|E)$/

/** Reads a whole stream and checks every rule that holds for all of them. */
function readStream(text: string) {
  const lines = text.split('\n')
  for (const line of lines) expect(line).toMatch(/^(?:data: .+|:.*|)$/)
  expect(text).toMatch(/^(?:(?:data: [^\n]+|: ?[^\n]*)\n\n)+$/)
  const data = lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice(6))
  const isDone = data.at(-1) === '[DONE]'
  const chunks = (isDone ? data.slice(0, -1) : data).map((json): Chunk => JSON.parse(json))
  const letters = chunks.map((chunk) => LETTERS.find(([, is]) => is(chunk))?.[0] ?? '?')
  const order = letters.join('') + (isDone ? 'D' : '')
  expect(order).toMatch(ORDER)
  const normal = chunks.filter(({ error }) => error === undefined)
  expect(new Set(normal.map(({ id, created, model }) => `${id} ${created} ${model}`)).size).toBe(1)
  const counted = normal.filter((chunk) => 'usage' in chunk).length
  expect([0, normal.length]).toContain(counted)
  return {
    order,
    chunks,
    text: chunks.map((chunk) => chunk.choices?.[0]?.delta.content ?? '').join(''),
    calls: chunks.flatMap((chunk) => chunk.choices?.[0]?.delta.tool_calls ?? []),
    finish: chunks.find(({ choices }) => choices?.[0]?.finish_reason)?.choices[0]?.finish_reason,
    error: chunks.at(-1)?.error,
  }
}

/** Posts chat completions of one key. */
export function completions(url: string, headers: Readonly<Record<string, string>>) {
  const post = (body: object, more: Readonly<Record<string, string>> = {}) =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', ...more },
      body: JSON.stringify(body),
    })
  return {
    post,
    /** A streamed answer, read to its end and checked. */
    async stream(body: object, more = {}) {
      const response = await post({ ...body, stream: true }, more)
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toStartWith('text/event-stream')
      return readStream(await response.text())
    },
    /** A whole answer: its status, headers and JSON. */
    async whole(body: object, more = {}) {
      const response = await post(body, more)
      const json = (await response.json()) as Completion
      return { status: response.status, headers: response.headers, body: json }
    },
  }
}

export const user = <Content>(content: Content) => ({ role: 'user', content })

/** A client's tool, as clients describe it. */
export const clientTool = (name: string) => ({
  type: 'function',
  function: {
    name,
    description: `Runs ${name}.`,
    parameters: { type: 'object', properties: { name: { type: 'string' } } },
  },
})

let tenants = 0

/** A new tenant on the platform's channel, so that no test sees what another left. */
export async function chatTenant(
  app: TestApp,
  scope: KeyScope = {},
  email = `chat${++tenants}@example.com`,
) {
  const key = await app.key(email, scope)
  async function call<Body>(method: string, path: string, body?: object): Promise<Body> {
    const { headers } = key
    const sent = body ? { body: JSON.stringify(body) } : {}
    const response = await fetch(`${app.url}/v1${path}`, { method, headers, ...sent })
    return (await response.json()) as Body
  }
  return {
    ...key,
    email,
    call,
    ...completions(app.url, key.headers),
    sessions: async () => (await call<{ sessions: SessionRow[] }>('GET', '/sessions')).sessions,
    history: async (id: string) => {
      const path = `/sessions/${encodeURIComponent(id)}/history`
      return (await call<{ messages: { role: string; content: string }[] }>('GET', path)).messages
    },
    addApp: async (fields: object) => (await call<{ id: string }>('POST', '/apps', fields)).id,
  }
}

interface SessionRow {
  readonly id: string
  readonly app_id: string | null
  readonly turn_count: number
}
