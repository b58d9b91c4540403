import { afterAll, beforeAll, expect, test } from 'bun:test'
import { MINUTE_MS } from '../../src/core/clock.ts'
import type { Schedule } from '../../src/features/runs/model.ts'
import type { IssuedTrigger } from '../../src/features/triggers/model.ts'
import { type Call, caller } from '../support/api.ts'
import { ask, greetedBoard } from '../support/board.ts'
import { deviceClient } from '../support/devices.ts'
import { codeOf, runOf, runsOf, scheduled, startRuns, type TestRuns } from '../support/runs.ts'

let on: TestRuns
let boss: Call
let bossHeaders: { readonly cookie: string }
beforeAll(async () => {
  on = await startRuns()
  bossHeaders = (await on.app.operator()).headers
  boss = caller(`${on.app.url}/console`, bossHeaders)
})
afterAll(() => on.stop())

const close = async (id: string, disabled: boolean) =>
  expect((await boss('PUT', `/system/tenants/${id}`, { disabled })).status).toBe(200)

test('what falls due while a tenant is closed is missed, and what comes later runs', async () => {
  const mail = on.email()
  const { tenantId } = await on.app.person(mail)
  const [person, key] = [await on.personOf(mail), await on.keyOf(mail)]
  const hourly = await scheduled(person, { cron: '0 * * * *' })
  const once = await scheduled(key, { name: 'once', at: on.inMs(30 * MINUTE_MS) })
  const later = await key<{ id: string }>('POST', '/runs', {
    text: 'Later?',
    at: on.inMs(20 * MINUTE_MS),
  })
  const last = await key<{ id: string }>('POST', '/runs', {
    text: 'Last?',
    at: on.inMs(90 * MINUTE_MS),
  })
  const asked = on.upstream.requests.length
  await close(tenantId, true)
  on.clock.advance(60 * MINUTE_MS)
  await on.settled()
  await close(tenantId, false)
  await on.settled()
  expect((await runsOf(person, hourly.id)).map(({ status }) => status)).toEqual(['missed'])
  expect((await runsOf(person, once.id)).map(({ status }) => status)).toEqual(['missed'])
  expect((await runOf(key, later.json().id)).status).toBe('missed')
  expect(on.upstream.requests.length).toBe(asked)
  const { enabled, failures } = (await person<Schedule>('GET', `/schedules/${hourly.id}`)).json()
  expect([enabled, failures]).toEqual([true, 0])
  on.clock.advance(60 * MINUTE_MS)
  await on.settled()
  await on.settled()
  expect((await runsOf(person, hourly.id)).map(({ status }) => status)).toEqual(['done', 'missed'])
  expect((await runOf(key, last.json().id)).status).toBe('done')
})

test('links and triggers of a closed tenant open nothing', async () => {
  const mail = on.email()
  const { tenantId } = await on.app.person(mail)
  const person = await on.personOf(mail)
  const { id } = (await person<{ id: string }>('POST', '/apps', { name: 'Shop' })).json()
  const share = await person<{ token: string }>('POST', `/apps/${id}/shares`, { name: 'Site' })
  const trigger = await person<IssuedTrigger>('POST', '/triggers', { name: 'bell', text: 'Who?' })
  const visit = { method: 'POST', body: JSON.stringify({ text: 'hi' }) }
  const statuses = async () => [
    (await fetch(`${on.app.url}/s/${share.json().token}`)).status,
    (await fetch(`${on.app.url}/s/${share.json().token}`, visit)).status,
    (await fetch(`${on.app.url}${new URL(trigger.json().url).pathname}`, visit)).status,
  ]
  await close(tenantId, true)
  const asked = on.upstream.requests.length
  expect(await statuses()).toEqual([404, 404, 404])
  expect(on.upstream.requests.length).toBe(asked)
  await close(tenantId, false)
  expect((await statuses()).slice(1)).toEqual([200, 202])
})

test('a board that was connected before its tenant was closed is not answered', async () => {
  const owner = await on.app.key(on.email())
  const { socket } = await greetedBoard(on.app, deviceClient(on.app, owner))
  await close(owner.tenantId, true)
  ask(socket, '天气怎么样')
  expect(await socket.closed).toMatchObject({ code: 1008 })
  expect(JSON.stringify(on.upstream.requests.map(({ body }) => body))).not.toContain('天气')
})

test('an operator who has closed the own tenant can open it again', async () => {
  const { tenant_id: own } = (await caller(on.app.url, bossHeaders)('GET', '/auth/me')).json()
  await close(`${own}`, true)
  const refused = await boss('GET', '/apps')
  expect([refused.status, codeOf(refused)]).toEqual([403, 'tenant_disabled'])
  expect((await boss('GET', '/system/tenants')).status).toBe(200)
  await close(`${own}`, false)
  expect((await boss('GET', '/apps')).status).toBe(200)
})
