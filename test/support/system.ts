import { afterAll, afterEach, beforeAll, expect } from 'bun:test'
import { type Call, caller } from './api.ts'
import { startApp, type TestApp, type TestKey } from './app.ts'
import { postSse } from './sse.ts'
import { startUpstream, type Upstream } from './upstream.ts'

export interface Setting {
  readonly name: string
  readonly value: string | null
  readonly secret_tail: string | null
  readonly source: string
  readonly locked: boolean
}

export const byName = (list: readonly Setting[]) =>
  Object.fromEntries(list.map((setting) => [setting.name, setting])) as Record<string, Setting>

export const settingsBy = async (call: Call) =>
  byName((await call<{ settings: Setting[] }>('GET', '/system')).json().settings)

/** A server with its operator, a key of another tenant, and a scripted upstream, for one file. */
export function systemUnderTest() {
  let upstream: Upstream
  let app: TestApp
  let operator: Call
  let key: TestKey
  beforeAll(async () => {
    upstream = await startUpstream()
    app = await startApp()
    operator = caller(`${app.url}/console`, (await app.operator()).headers)
    key = await app.key('tenant@example.com')
  })
  const put = (body: unknown) => operator<{ settings: Setting[] }>('PUT', '/system', body)
  const settings = () => settingsBy(operator)
  afterEach(async () => {
    const open = Object.values(await settings()).filter(({ locked }) => !locked)
    const cleared = await put(Object.fromEntries(open.map(({ name }) => [name, null])))
    expect(cleared.status).toBe(200)
    upstream.reset()
  })
  afterAll(async () => {
    await app[Symbol.asyncDispose]()
    await upstream.stop()
  })
  type Trial = { ok: boolean; latency_ms: number; text: string }
  return {
    app: () => app,
    upstream: () => upstream,
    /** The operator's console. */
    call: (...args: Parameters<Call>) => operator(...args),
    tenant: () => key,
    put,
    settings,
    async turn() {
      const body = { text: 'hi', session_id: crypto.randomUUID() }
      return (await postSse(`${app.url}/v1/agent`, { headers: key.headers, body })).all()
    },
    trial: async (part: string) => (await operator<Trial>('POST', '/system/test', { part })).json(),
  }
}
