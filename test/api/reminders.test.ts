import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { MINUTE_MS } from '../../src/core/clock.ts'
import { type Call, caller } from '../support/api.ts'
import { schedulesOf, startRuns, type TestRuns } from '../support/runs.ts'

let on: TestRuns
beforeAll(async () => {
  on = await startRuns()
})
afterEach(() => on.upstream.reset())
afterAll(() => on.stop())

describe('reminders', () => {
  async function reminded(call: Call, args: object): Promise<void> {
    const answer = { toolCalls: [{ name: 'set_reminder', arguments: JSON.stringify(args) }] }
    on.upstream.reply(answer)
    on.upstream.reply({ text: 'ok' })
    await call('POST', '/agent', { text: 'remind me', session_id: 's' })
  }

  test('are offered by a switch, set in a turn, and given as they stand', async () => {
    const call = await on.personOf()
    await call('PUT', '/settings', { reminders: true })
    await reminded(call, { text: 'Water the plants', in_minutes: 10 })
    const schedules = await schedulesOf(call)
    expect(schedules).toMatchObject([{ kind: 'reminder', text: 'Water the plants' }])
    expect(schedules[0]?.next_at).toBe(on.inMs(10 * MINUTE_MS))
    const before = on.upstream.requests.length
    on.clock.advance(10 * MINUTE_MS)
    await on.settled()
    expect(on.upstream.requests.length).toBe(before)
    const told = (await call<{ notices: object[] }>('GET', '/notices')).json()
    expect(told.notices).toMatchObject([{ text: 'Water the plants' }])
  })

  test('are told to the device at its next heartbeat, once', async () => {
    const mail = on.email()
    const owner = await on.personOf(mail)
    await owner('PUT', '/settings', { reminders: true })
    const { activation_code: code } = (
      await owner<{ activation_code: string }>('POST', '/devices', { name: 'Lamp' })
    ).json()
    const anyone = caller(`${on.app.url}/v1`, {})
    const { key } = (await anyone<{ key: string }>('POST', '/devices/activate', { code })).json()
    const device = caller(`${on.app.url}/v1`, { authorization: `Bearer ${key}` })
    await reminded(device, { text: 'Tea', in_minutes: 1 })
    on.clock.advance(MINUTE_MS)
    await on.settled()
    const beat = async () =>
      (await device<{ notices: object[] }>('POST', '/devices/heartbeat')).json().notices
    expect(await beat()).toMatchObject([{ text: 'Tea' }])
    expect(await beat()).toEqual([])
  })

  test('are an error result where nobody is known, and not set by a turn that fails', async () => {
    const mail = on.email()
    const owner = await on.personOf(mail)
    await owner('PUT', '/settings', { reminders: true })
    const key = await on.keyOf(mail)
    await reminded(key, { text: 'x', in_minutes: 1 })
    const set = { name: 'set_reminder', arguments: '{"text":"y","in_minutes":5}' }
    on.upstream.reply({ toolCalls: [set] })
    on.upstream.fault(400)
    await owner('POST', '/agent', { text: 'remind me', session_id: 't' })
    const schedules = await schedulesOf(owner)
    expect(schedules).toEqual([])
  })

  test('of a person are seen by that person alone', async () => {
    const mail = on.email()
    const owner = await on.personOf(mail)
    await owner('PUT', '/settings', { reminders: true })
    await reminded(owner, { text: 'Secret', in_minutes: 60 })
    const key = await on.keyOf(mail)
    expect(await schedulesOf(key)).toEqual([])
    const schedules = await schedulesOf(owner)
    expect((await key('DELETE', `/schedules/${schedules[0]?.id}`)).status).toBe(404)
    expect((await owner('DELETE', `/schedules/${schedules[0]?.id}`)).status).toBe(200)
  })

  test('of all subjects of a tenant are a thousand at most', async () => {
    const mail = on.email()
    await (await on.personOf(mail))('PUT', '/settings', { reminders: true })
    const key = await on.app.key(mail)
    const call = caller(`${on.app.url}/v1`, key.headers)
    const columns =
      'id, tenant_id, name, kind, time_zone, text, thinks, session, subject, webhook_ids, ' +
      'max_model_calls, approved_tools, enabled, next_at, failures, created_at'
    await on.app.db.batch(
      Array.from({ length: 999 }, (_, at) => ({
        sql: `INSERT INTO schedule (${columns})
          VALUES (?, ?, 'x', 'reminder', 'UTC', 'x', 0, 'new', ?, '[]', 1, '[]', 1, ?, 0, ?)`,
        args: [`${key.tenantId}-${at}`, key.tenantId, `s${at}`, on.clock.now() * 2, on.clock.iso()],
      })),
    )
    const asked = async (subject: string) => {
      const args = JSON.stringify({ text: 'Tea', in_minutes: 600 })
      on.upstream.reply({ toolCalls: [{ name: 'set_reminder', arguments: args }] })
      on.upstream.reply({ text: 'ok' })
      await call('POST', '/agent', { text: 'remind me', session_id: subject, subject })
      return String(on.upstream.requests.at(-1)?.body.messages.at(-1)?.content)
    }
    expect(await asked('one')).toContain('"text":"Tea"')
    expect(await asked('two')).toContain('1000')
    const [row] = await on.app.db.all<{ count: number }>({
      sql: 'SELECT count(*) AS count FROM schedule WHERE tenant_id = ?',
      args: [key.tenantId],
    })
    expect(row?.count).toBe(1000)
  })
})
