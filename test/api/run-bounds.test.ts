import { afterAll, beforeAll, expect, test } from 'bun:test'
import { DAY_MS, MINUTE_MS } from '../../src/core/clock.ts'
import type { Call } from '../support/api.ts'
import { codeOf, startRuns, type TestRuns } from '../support/runs.ts'

let on: TestRuns
beforeAll(async () => {
  on = await startRuns({ MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' })
})
afterAll(() => on.stop())

const posting = (call: Call, path: string, common: object) => async (more: object) => {
  const answer = await call('POST', path, { ...common, ...more })
  return answer.status < 300 ? answer.status : codeOf(answer)
}

const CRON = { cron: '0 8 * * *' }

test('a fact has 1 to 300 characters in one line, a subject 1 to 100', async () => {
  const post = posting(await on.keyOf(), '/memories', { subject: 'ann', text: 'x' })
  expect(await post({ text: '长'.repeat(300) })).toBe(201)
  expect(await post({ text: '长'.repeat(301) })).toBe('field_too_long')
  expect(await post({ text: 'a\nb' })).toBe('field_invalid')
  expect(await post({ subject: 'A0._@:-'.padEnd(100, 'z') })).toBe(201)
  for (const subject of ['a'.repeat(101), 'a b', 'é']) {
    expect(await post({ subject })).toBe('memory_subject')
  }
})

test('a run is due within a year and a minute ago at most, with 1 to 40 model calls', async () => {
  const post = posting(await on.keyOf(), '/runs', { text: 'x', at: on.inMs(DAY_MS) })
  expect(await post({ at: on.inMs(365 * DAY_MS) })).toBe(202)
  expect(await post({ at: on.inMs(365 * DAY_MS + 1) })).toBe('field_invalid')
  expect(await post({ at: on.inMs(-MINUTE_MS) })).toBe(202)
  expect(await post({ at: on.inMs(-MINUTE_MS - 1) })).toBe('schedule_past')
  expect(await post({ at: '2026-11-25T08:00:00' })).toBe('field_invalid')
  expect(await post({ at: '2026-11-25T08:00:00+01:00' })).toBe(202)
  for (const max_model_calls of [1, 40]) expect(await post({ max_model_calls })).toBe(202)
  for (const max_model_calls of [0, 41, 1.5, '3']) {
    expect(await post({ max_model_calls })).toBe('field_invalid')
  }
  const webhook_ids = ['1', '2', '3', '4', '5', '6']
  expect(await post({ webhook_ids })).toBe('too_many_items')
  expect(await post({ webhook_ids: webhook_ids.slice(1) })).toBe('not_found')
  await on.settled()
})

test('a schedule runs every five minutes at most, by a text of 8,000 characters', async () => {
  let names = 0
  const call = await on.keyOf()
  const posted = posting(call, '/schedules', { text: 'x' })
  const post = (more: object) => posted({ name: `${names++}`, ...more })
  expect(await post({ cron: '*/5 * * * *' })).toBe(201)
  expect(await post({ cron: '*/4 * * * *' })).toBe('schedule_too_often')
  expect(await post({ cron: '0 8 L JAN-MAR MON,fri' })).toBe(201)
  for (const cron of ['@daily', '0 8 * *', '0 0 8 * * *', '0 0 30 2 *']) {
    expect(await post({ cron })).toBe('schedule_cron')
  }
  expect(await post({ ...CRON, text: 'x'.repeat(8_000) })).toBe(201)
  expect(await post({ ...CRON, text: 'x'.repeat(8_001) })).toBe('field_too_long')
  for (const max_model_calls of [1, 40]) expect(await post({ ...CRON, max_model_calls })).toBe(201)
  for (const max_model_calls of [0, 41]) {
    expect(await post({ ...CRON, max_model_calls })).toBe('field_invalid')
  }
  expect(await post({ ...CRON, name: 'x'.repeat(60) })).toBe(201)
  expect(await post({ ...CRON, time_zone: '+08:00' })).toBe('time_zone_unknown')
  const { length } = (await call<{ schedules: [] }>('GET', '/schedules')).json().schedules
  for (let more = length; more < 100; more++) expect(await post(CRON)).toBe(201)
  expect(await post(CRON)).toBe('quota_schedules')
})

test.each([
  ['Europe/Berlin', '30 2 * * *', '2027-03-27T12:00:00Z', '2027-03-28T01:00', '2027-03-29T00:30'],
  ['Europe/Berlin', '30 2 * * *', '2027-10-30T12:00:00Z', '2027-10-31T00:30', '2027-11-01T01:30'],
  [
    'America/New_York',
    '30 2 * * *',
    '2027-03-13T12:00:00Z',
    '2027-03-14T07:00',
    '2027-03-15T06:30',
  ],
  [
    'America/New_York',
    '30 1 * * *',
    '2027-11-06T12:00:00Z',
    '2027-11-07T05:30',
    '2027-11-08T06:30',
  ],
  [
    'Australia/Lord_Howe',
    '15 2 * * *',
    '2027-10-02T00:00:00Z',
    '2027-10-02T15:30',
    '2027-10-03T15:15',
  ],
  ['Europe/Berlin', '0 * * * *', '2027-10-31T00:00:00Z', '2027-10-31T01:00', '2027-10-31T02:00'],
])('a preview goes through a change of the clock in %s: %s from %s', async (...of) => {
  const [time_zone, cron, from, ...times] = of
  const call = await on.keyOf()
  const asked = { cron, time_zone, from }
  const { next } = (await call<{ next: string[] }>('POST', '/schedules/preview', asked)).json()
  expect(next.slice(0, 2)).toEqual(times.map((time) => `${time}:00.000Z`))
  expect(next).toHaveLength(10)
})

test('a webhook has known events and is one of ten', async () => {
  const call = await on.keyOf()
  const common = { name: 'w', url: 'http://127.0.0.1:9/x', events: ['run.done'] }
  const post = posting(call, '/webhooks', common)
  for (const events of [['run.*'], ['run.done', 'x']]) {
    expect(await post({ events })).toBe('event_unknown')
  }
  for (let more = 0; more < 10; more++) expect(await post({})).toBe(201)
  expect(await post({})).toBe('quota_webhooks')
})
