import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/clock.ts'
import type { Run, Schedule } from '../../src/features/runs/model.ts'
import { caller } from '../support/api.ts'
import { filesClient } from '../support/chat-files.ts'
import { codeOf, runOf, scheduled, startRuns, type TestRuns } from '../support/runs.ts'

let on: TestRuns
beforeAll(async () => {
  on = await startRuns()
})
afterEach(() => on.upstream.reset())
afterAll(() => on.stop())

describe('runs', () => {
  test('are asked for, done in the background, and read', async () => {
    const call = await on.keyOf()
    on.upstream.reply({ text: 'Hello.' })
    const asked = await call<Run>('POST', '/runs', { text: 'Hi' })
    expect(asked.status).toBe(202)
    const { id } = asked.json()
    expect(asked.json()).toMatchObject({
      schedule_id: null,
      session_id: `run-${id}`,
      late: false,
      error_class: null,
    })
    await on.settled()
    const run = await runOf(call, id)
    expect(run).toMatchObject({ status: 'done', model_calls: 1, reply_chars: 6, tools: [] })
    expect(run).not.toHaveProperty('reply')
    expect(await runOf(call, id, '?reply=1')).toMatchObject({ reply: 'Hello.' })
    await on.app.flush()
    const logs = (
      await call<{ logs: { endpoint: string; status: number }[] }>('GET', '/logs')
    ).json()
    expect(logs.logs.filter(({ endpoint }) => endpoint === '/v1/runs')).toMatchObject([
      { status: 200, session_id: `run-${id}` },
    ])
  })

  test('are logged with the word of their status when they fail', async () => {
    const call = await on.keyOf()
    on.upstream.fault(401)
    const { id } = (await call<Run>('POST', '/runs', { text: 'x' })).json()
    await on.settled()
    expect(await runOf(call, id)).toMatchObject({ error_class: 'model_upstream_4xx' })
    await on.app.flush()
    const logs = await call<{ logs: object[] }>('GET', '/logs?error_class=upstream')
    expect(logs.json().logs).toMatchObject([
      { status: 502, session_id: `run-${id}`, error_class: 'upstream' },
    ])
  })

  test('wait until they are due, and can be canceled before', async () => {
    const call = await on.keyOf()
    const { id } = (await call<Run>('POST', '/runs', { text: 'x', at: on.inMs(HOUR_MS) })).json()
    await on.settled()
    expect(await runOf(call, id)).toMatchObject({ status: 'waiting', started_at: null })
    expect((await call<Run>('POST', `/runs/${id}/cancel`)).json().status).toBe('canceled')
    on.clock.advance(HOUR_MS)
    await on.settled()
    expect((await runOf(call, id)).status).toBe('canceled')
    expect((await call<Run>('POST', `/runs/${id}/cancel`)).json().status).toBe('canceled')
    expect(on.upstream.requests.length).toBe(0)
  })

  test('are canceled while the model writes, and store nothing then', async () => {
    const call = await on.keyOf()
    on.upstream.reply({ text: 'never', hold: { after: 0, until: Promise.withResolvers().promise } })
    const { id } = (await call<Run>('POST', '/runs', { text: 'x' })).json()
    await on.upstream.nextRequest()
    expect((await call<Run>('POST', `/runs/${id}/cancel`)).json().status).toBe('canceled')
    await on.upstream.aborted()
    await on.app.jobs.idle()
    expect(await runOf(call, id)).toMatchObject({ status: 'canceled', reply_chars: null })
    const { turns } = (
      await call<{ turns: unknown[] }>('GET', `/sessions/run-${id}/transcript`)
    ).json()
    expect(turns).toEqual([])
  })

  test('refuse wrong times, references and bounds', async () => {
    const call = await on.keyOf()
    const post = async (body: object) => {
      const answer = await call('POST', '/runs', { text: 'x', ...body })
      return [answer.status, codeOf(answer)]
    }
    expect(await post({ at: on.inMs(-2 * MINUTE_MS) })).toEqual([400, 'schedule_past'])
    expect(await post({ at: '2026-11-25T10:00:00' })).toEqual([400, 'field_invalid'])
    expect(await post({ at: on.inMs(366 * DAY_MS) })).toEqual([400, 'field_invalid'])
    expect(await post({ max_model_calls: 41 })).toEqual([400, 'field_invalid'])
    expect(await post({ app_id: 'none' })).toEqual([404, 'not_found'])
    expect(await post({ webhook_ids: ['none'] })).toEqual([404, 'not_found'])
    expect(await post({ subject: 'user:1' })).toEqual([400, 'memory_subject'])
    expect((await call('GET', '/runs?status=odd')).status).toBe(400)
    expect((await call('GET', '/runs/none')).status).toBe(404)
  })

  test('refuse at once what their turn could not have', async () => {
    const mail = on.email()
    const call = await on.keyOf(mail)
    const made = await call<{ id: string }>('POST', '/kb/collections', { name: 'seen' })
    const seen = made.json().id
    const app = await call<{ id: string }>('POST', '/apps', { name: 'a', collections: [] })
    const { headers } = await on.app.key(mail)
    const broken = await filesClient(() => on.app.url).ingest(headers, '%PDF-1.4 broken', 'a.pdf')
    const post = async (body: object) => {
      const answer = await call('POST', '/runs', { text: 'x', ...body })
      return [answer.status, codeOf(answer)]
    }
    expect(await post({ files: ['none'] })).toEqual([404, 'not_found'])
    expect(await post({ files: [broken.id] })).toEqual([400, 'file_failed'])
    expect(await post({ collections: ['none at all'] })).toEqual([404, 'not_found'])
    const ofApp = { collections: [seen], app_id: app.json().id }
    expect(await post(ofApp)).toEqual([404, 'not_found'])
    expect((await post({ images: ['https://127.0.0.1/a.png'] }))[0]).toBe(400)
    expect((await call('GET', '/runs')).json()).toMatchObject({ runs: [] })
    expect((await post({ collections: [seen] }))[0]).toBe(202)
    await on.settled()
  })

  test('make as many model calls as they may', async () => {
    const call = await on.keyOf()
    const tool = { name: 'calculator', arguments: '{"expression":"1+1"}' }
    on.upstream.reply({ toolCalls: [tool] })
    on.upstream.reply({ toolCalls: [tool] })
    on.upstream.reply({ text: 'ok' })
    const asked = await call<Run>('POST', '/runs', { text: 'x', max_model_calls: 3 })
    await on.settled()
    expect(await runOf(call, asked.json().id)).toMatchObject({
      status: 'done',
      model_calls: 3,
      tools: [
        { name: 'calculator', ok: true },
        { name: 'calculator', ok: true },
      ],
    })
  })

  test('belong to the app of a key, and to no device', async () => {
    const mail = on.email()
    const call = await on.keyOf(mail)
    const { id } = (await call<{ id: string }>('POST', '/apps', { name: 'A' })).json()
    const mine = caller(`${on.app.url}/v1`, (await on.app.key(mail, { appId: id })).headers)
    const other = (await call<Run>('POST', '/runs', { text: 'x' })).json()
    const own = (await mine<Run>('POST', '/runs', { text: 'x' })).json()
    await on.settled()
    expect(own.app_id).toBe(id)
    const { runs } = (await mine<{ runs: Run[] }>('GET', '/runs')).json()
    expect(runs.map((run) => run.id)).toEqual([own.id])
    expect((await mine('GET', `/runs/${other.id}`)).status).toBe(404)
    expect(await runOf(mine, own.id, '?reply=1')).toHaveProperty('reply')
    const device = await on.app.key(mail, { deviceId: 'd' })
    expect((await caller(`${on.app.url}/v1`, device.headers)('GET', '/runs')).status).toBe(403)
  })

  test('of a revoked key end as forbidden, and its schedules stop', async () => {
    const mail = on.email()
    const owner = await on.personOf(mail)
    const key = await on.app.key(mail)
    const call = caller(`${on.app.url}/v1`, key.headers)
    const run = (await call<Run>('POST', '/runs', { text: 'x', at: on.inMs(HOUR_MS) })).json()
    const { id } = await scheduled(call, { cron: '0 8 * * *' })
    expect((await owner('DELETE', `/keys/${key.id}`)).status).toBe(200)
    expect(await runOf(owner, run.id)).toMatchObject({
      status: 'failed',
      error_class: 'forbidden',
    })
    const schedule = (await owner<Schedule>('GET', `/schedules/${id}`)).json()
    expect(schedule).toMatchObject({ enabled: false, next_at: null })
  })

  test('count under the budget of their key', async () => {
    const call = caller(
      `${on.app.url}/v1`,
      (await on.app.key(on.email(), { dailyTokens: 1 })).headers,
    )
    on.upstream.reply({ text: 'one', usage: { input: 10, output: 10 } })
    const first = (await call<Run>('POST', '/runs', { text: 'x' })).json()
    await on.settled()
    const second = await call<Run>('POST', '/runs', { text: 'x' })
    expect(second.status).toBe(202)
    await on.settled()
    const both = [await runOf(call, first.id), await runOf(call, second.json().id)]
    expect(both.map(({ error_class }) => error_class)).toContain('budget_spent')
  })
})
