import { expect } from 'bun:test'
import type { Run, Schedule } from '../../src/features/runs/model.ts'
import { type Call, caller } from './api.ts'
import { startApp } from './app.ts'
import { fakeClock } from './clock.ts'
import { startUpstream } from './upstream.ts'

let tenants = 0

/** The product with a clock that stands still and a scripted model, to try runs and schedules. */
export async function startRuns(env: Readonly<Record<string, string>> = {}) {
  const clock = fakeClock({ start: Date.UTC(2026, 10, 22, 17, 5), repeats: false })
  const upstream = await startUpstream()
  const app = await startApp({ upstream: upstream.baseUrl, clock, env })
  const email = () => `r${++tenants}@example.com`
  return {
    app,
    clock,
    upstream,
    email,
    keyOf: async (mail = email()): Promise<Call> =>
      caller(`${app.url}/v1`, (await app.key(mail)).headers),
    personOf: async (mail = email()): Promise<Call> =>
      caller(`${app.url}/console`, (await app.person(mail)).headers),
    /** Resolves when what is due has ended. */
    settled: app.runsEnded,
    inMs: (ms: number) => new Date(clock.now() + ms).toISOString(),
    async stop(): Promise<void> {
      await app[Symbol.asyncDispose]()
      await upstream.stop()
    },
  }
}

export type TestRuns = Awaited<ReturnType<typeof startRuns>>

export const codeOf = ({ headers }: { readonly headers: Headers }) => headers.get('x-error-code')

export const runOf = async (call: Call, id: string, query = '') =>
  (await call<Run>('GET', `/runs/${id}${query}`)).json()

export const runsOf = async (call: Call, id: string) =>
  (await call<{ runs: Run[] }>('GET', `/runs?schedule_id=${id}`)).json().runs

export const schedulesOf = async (call: Call) =>
  (await call<{ schedules: Schedule[] }>('GET', '/schedules')).json().schedules

export async function scheduled(call: Call, more: object): Promise<Schedule> {
  const made = await call<Schedule>('POST', '/schedules', { name: 'news', text: 'News?', ...more })
  expect(made.status).toBe(201)
  return made.json()
}
