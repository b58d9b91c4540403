import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { AgentCheckResponse } from '../../src/features/agent/model.ts'
import type { ModelListResponse } from '../../src/features/provider/model.ts'
import { caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const clock = fakeClock()
let platform: Upstream
let byo: Upstream
let app: TestApp

beforeAll(async () => {
  ;[platform, byo] = await Promise.all([startUpstream(), startUpstream()])
  app = await startApp({
    clock,
    upstream: platform.baseUrl,
    env: { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' },
  })
})
afterEach(() => {
  platform.reset()
  byo.reset()
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await Promise.all([platform.stop(), byo.stop()])
})

let tenants = 0
async function tenant(on = app) {
  const call = caller(`${on.url}/console`, (await on.person(`t${++tenants}@example.com`)).headers)
  return {
    call,
    bring: (failover = true) =>
      call('PUT', '/provider', { base_url: byo.baseUrl, api_key: 'k', failover }),
    models: async () => (await call<ModelListResponse>('GET', '/models')).json(),
    check: async () => (await call<AgentCheckResponse>('POST', '/agent/check')).json(),
  }
}
const lists = (upstream: Upstream) =>
  upstream.requests.filter(({ path }) => path.endsWith('/models')).length

test('the models are those of the channel of the tenant, asked for once a minute', async () => {
  const { bring, models } = await tenant()
  platform.models.always({ ids: ['small', 'large', 'small'] })
  byo.models.always({ ids: ['own'] })
  const named = ['small', 'large']
  const ours: ModelListResponse = { models: named, channel: 'platform', error_class: null }
  expect(await Promise.all([models(), models()])).toEqual([ours, ours])
  expect(await (await tenant()).models()).toEqual(ours)
  expect(lists(platform)).toBe(1)
  await bring()
  expect(await models()).toEqual({ models: ['own'], channel: 'byo', error_class: null })
  await models()
  expect(lists(byo)).toBe(1)
  clock.advance(60_000)
  await models()
  expect(lists(byo)).toBe(2)
})

test('a channel that cannot list its models says why, and is asked again', async () => {
  const { bring, models } = await tenant()
  await bring()
  byo.models.fault(401)
  expect(await models()).toEqual({ models: [], channel: 'byo', error_class: 'unauthorized' })
  byo.models.fault(500)
  expect(await models()).toMatchObject({ models: [], error_class: 'http_5xx' })
  byo.models.fault(404)
  expect(await models()).toMatchObject({ models: [], error_class: null })
})

test('a check has one tiny turn that stores nothing', async () => {
  const { call, check } = await tenant()
  platform.reply({ text: 'ok' })
  expect(await check()).toEqual({
    ...{ ok: true, channel: 'platform', model: 'fake', reason: null },
    first_ms: expect.any(Number),
  })
  const asked = platform.requests.at(-1)?.body
  expect(asked).toMatchObject({ max_tokens: 32 })
  expect(asked).not.toHaveProperty('tools')
  expect(JSON.stringify(asked).length).toBeLessThan(1_000)
  expect((await call('GET', '/sessions')).json()).toEqual({ sessions: [] })
})

test('a check fails where the platform took over, and where the channel failed', async () => {
  const { bring, check } = await tenant()
  await bring()
  byo.fault(400)
  platform.reply({ text: 'ok' })
  expect(await check()).toMatchObject({
    ...{ ok: false, channel: 'platform_fallback', model: 'fake', reason: 'upstream_4xx' },
  })
  await bring(false)
  byo.fault(400)
  expect(await check()).toEqual({
    ...{ ok: false, channel: 'byo', model: null, first_ms: null, reason: 'model_upstream_4xx' },
  })
})

test('a check fails where the built-in responder answers, which has no models', async () => {
  await using bare = await startApp()
  const { check, models } = await tenant(bare)
  expect(await check()).toMatchObject({ ok: false, model: null, reason: 'offline_responder' })
  expect(await models()).toEqual({ models: [], channel: 'platform', error_class: null })
})
