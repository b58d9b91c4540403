import type { Clock } from '../../src/core/clock.ts'
import { startApp, type TestApp } from './app.ts'
import { patientClock } from './clock.ts'
import { postSse } from './sse.ts'
import { startUpstream, type Upstream } from './upstream.ts'

export const BYO_KEY = 'sk-byo-SECRET-of-the-tenant'
/** The model in the tenant's settings. */
export const BYO_MODEL = 'tenant-model'

/** Waits between attempts end at once and are recorded; `advance` moves the time. */
function hurriedClock(): Clock & { advance(ms: number): void; readonly waits: number[] } {
  const waits: number[] = []
  let ahead = 0
  return {
    ...patientClock(),
    waits,
    now: () => Date.now() + ahead,
    iso: () => new Date(Date.now() + ahead).toISOString(),
    steady: () => performance.now() + ahead,
    advance(ms) {
      ahead += ms
    },
    async sleep(ms, signal) {
      signal?.throwIfAborted()
      waits.push(ms)
    },
  }
}

export type Failover = Awaited<ReturnType<typeof startFailover>>

/** The product with a platform upstream and an upstream for tenants' own channels. */
export async function startFailover(env: Readonly<Record<string, string>> = {}) {
  const [byo, platform] = await Promise.all([startUpstream(), startUpstream()])
  const clock = hurriedClock()
  const app: TestApp = await startApp({
    upstream: platform.baseUrl,
    clock,
    env: {
      MB_LLM_TIMEOUT_MS: '20000',
      MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1',
      MB_EMBED_BASE_URL: platform.baseUrl,
      MB_EMBED_MODEL: 'fake-embed',
      ...env,
    },
  })
  let tenants = 0

  /** A new tenant for each test, so that no test sees the channel state of another. */
  async function tenant(options: { failover?: boolean; baseUrl?: string } = {}) {
    const { failover = true, baseUrl = byo.baseUrl } = options
    const { headers, tenantId } = await app.key(`tenant${++tenants}@example.com`)
    await app.db.run({
      sql: 'INSERT INTO tenant_settings (tenant_id, model) VALUES (?, ?)',
      args: [tenantId, BYO_MODEL],
    })
    const put = async (fields: object = {}) => {
      const body = { base_url: baseUrl, api_key: BYO_KEY, failover, ...fields }
      const url = `${app.url}/v1/provider`
      const answer = await fetch(url, { method: 'PUT', headers, body: JSON.stringify(body) })
      if (answer.status !== 200) throw new Error(`PUT: ${answer.status} ${await answer.text()}`)
    }
    await put()
    const get = async (path: string) => (await fetch(`${app.url}${path}`, { headers })).json()
    const open = (body: object = {}) =>
      postSse(`${app.url}/v1/agent`, { headers, body: { text: 'hi', session_id: 's', ...body } })
    return {
      tenantId,
      headers,
      put,
      open,
      /** One turn in the session `s`, read to its end. */
      async ask(body: object = {}): Promise<Record<string, unknown>[]> {
        return (await (await open(body)).all()).map(({ data }) => data)
      },
      history: () => get('/v1/sessions/s/history'),
      sessions: async (): Promise<{ turn_count: number }[]> => (await get('/v1/sessions')).sessions,
    }
  }

  return {
    app,
    byo,
    platform,
    clock,
    tenant,
    /** Chat requests that an upstream received. */
    asked: (upstream: Upstream) =>
      upstream.requests.filter(({ path }) => path === '/chat/completions'),
    reset() {
      byo.reset()
      platform.reset()
      clock.waits.length = 0
    },
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]()
      await Promise.all([byo.stop(), platform.stop()])
    },
  }
}
