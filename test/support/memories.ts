import { type Call, caller } from './api.ts'
import type { TestApp } from './app.ts'
import { postSse } from './sse.ts'
import type { Upstream } from './upstream.ts'

export interface Memory {
  readonly id: string
  readonly subject: string
  readonly app_id: string | null
  readonly text: string
  readonly pinned: boolean
  readonly source: string
  readonly session_id: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly used_at: string | null
}

export type TurnEvent = Readonly<Record<string, unknown>> & { readonly type: string }

interface Chat {
  readonly messages: readonly { readonly role: string; readonly content: string }[]
  readonly tools?: readonly { readonly function: { readonly name: string } }[]
}

/** Calls the surface with these headers, and reads and tells memories. */
export function memoryClient(base: string, headers: Readonly<Record<string, string>>) {
  const call: Call = caller(base, headers)
  return {
    headers,
    call,
    async list(query = ''): Promise<Memory[]> {
      return (await call<{ memories: Memory[] }>('GET', `/memories${query}`)).json().memories
    },
    async tell(body: object): Promise<Memory> {
      return (await call<Memory>('POST', '/memories', body)).json()
    },
    /** One turn; resolves with its events. */
    async ask(body: object, more: Readonly<Record<string, string>> = {}): Promise<TurnEvent[]> {
      const stream = await postSse(`${base}/agent`, { headers: { ...headers, ...more }, body })
      return (await stream.all()).map(({ data }) => data as TurnEvent)
    },
  }
}

export const written = (events: readonly TurnEvent[]) =>
  events.filter(({ type }) => type === 'memory') as (TurnEvent & {
    readonly action: string
    readonly id: string
    readonly text: string
  })[]

export const shownIn = (events: readonly TurnEvent[]) =>
  events.find(({ type }) => type === 'stats')?.memory

/** What the model was last asked. */
export function askedOf(upstream: Upstream) {
  const body = upstream.requests.filter(({ path }) => path === '/chat/completions').at(-1)?.body
  const chat = body as unknown as Chat | undefined
  return {
    system: chat?.messages[0]?.content ?? '',
    tools: chat?.tools?.map((one) => one.function.name) ?? [],
    last: chat?.messages.at(-1)?.content ?? '',
  }
}

/** The model calls `name` and then answers. */
export function callsTool(upstream: Upstream, name: string, args: object): void {
  upstream.reply({ toolCalls: [{ name, arguments: JSON.stringify(args) }] })
}

/** An app of the tenant, and a key of it. */
export async function appOf(app: TestApp, email: string, fields: object) {
  const { headers } = await app.person(email)
  const call = caller(`${app.url}/console`, headers)
  const made = await call<{ id: string }>('POST', '/apps', { name: 'a', ...fields })
  const { id } = made.json()
  const issued = (await call<{ key: string }>('POST', `/apps/${id}/keys`, { rate_limit: 0 })).json()
  return { id, headers: { authorization: `Bearer ${issued.key}` } }
}
