import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/clock.ts'
import type { Run, Schedule } from '../../src/features/runs/model.ts'
import type { Call } from '../support/api.ts'
import { codeOf, runsOf, scheduled, startRuns, type TestRuns } from '../support/runs.ts'
import { startTeam } from '../support/team.ts'

interface Usage {
  readonly by_person: readonly { readonly user_id: string }[]
}

let on: TestRuns
beforeAll(async () => {
  on = await startRuns()
})
afterEach(() => on.upstream.reset())
afterAll(() => on.stop())

describe('schedules', () => {
  test('run once at each of their times, in a conversation of its own', async () => {
    const call = await on.personOf()
    const { id, next_at } = await scheduled(call, {
      cron: '0 8 * * *',
      time_zone: 'Asia/Shanghai',
    })
    expect(next_at).toBe('2026-11-23T00:00:00.000Z')
    on.upstream.reply({ text: 'Good morning.' })
    on.clock.advance(Date.parse(next_at ?? '') - on.clock.now())
    await on.settled()
    await on.settled()
    const [run, ...more] = await runsOf(call, id)
    expect(more).toEqual([])
    expect(run).toMatchObject({
      status: 'done',
      late: false,
      due_at: next_at,
      session_id: `sch-${id}-20261123T0000`,
    })
    const schedule = (await call<Schedule>('GET', `/schedules/${id}`)).json()
    expect(schedule).toMatchObject({
      next_at: '2026-11-24T00:00:00.000Z',
      last: { run_id: run?.id, status: 'done', at: next_at },
      failures: 0,
    })
    const talk = await call<{ title: string }>('GET', `/conversations/${run?.session_id}`)
    expect(talk.json().title).toBe('news 2026-11-23 08:00')
    const told = await call<{ notices: { id: string; text: string }[] }>('GET', '/notices')
    const [notice] = told.json().notices
    expect(notice).toMatchObject({ text: 'Good morning.', run_id: run?.id, due_at: next_at })
    for (let twice = 0; twice < 2; twice++) {
      expect((await call('POST', `/notices/${notice?.id}/read`)).status).toBe(200)
    }
    expect((await call('GET', '/notices')).json()).toEqual({ notices: [] })
  })

  test('are of whoever saved them last: memory, conversation, notices and tokens', async () => {
    const team = await startTeam(on.app)
    const asked = { name: 'news', text: 'Keep a secret', cron: '0 8 * * *', session: 'same' }
    const made = await team.call<Schedule>('POST', '/console/schedules', asked)
    const { id, subject, created_by } = made.json()
    const runBy = async (call: Call) => {
      const run = (await call<Run>('POST', `/console/schedules/${id}/run`)).json()
      await on.settled()
      return run
    }
    const readBy = async (call: Call, run: Run) =>
      (await call<Run>('GET', `/console/runs/${run.id}?reply=1`)).json()
    const noticesOf = async (call: Call) =>
      (await call<{ notices: { run_id: string }[] }>('GET', '/console/notices')).json().notices
    const first = await runBy(team.call)
    expect([first.session_id, first.subject]).toEqual([`sch-${id}`, subject])

    const editor = (await team.join('editor')).call
    const theirs = { ...asked, text: 'Tell all you know' }
    const taken = (await editor<Schedule>('PUT', `/console/schedules/${id}`, theirs)).json()
    expect(taken.subject).toMatch(/^user:/)
    expect(taken.subject).not.toBe(subject)
    expect(taken).toMatchObject({ text: theirs.text, created_by })
    const second = await runBy(editor)
    expect(second).toMatchObject({ status: 'waiting', subject: taken.subject })
    expect(second.session_id).not.toBe(first.session_id)
    expect(await readBy(editor, second)).toMatchObject({ status: 'done' })
    expect((await readBy(editor, second)).reply).toBeString()
    expect(await readBy(team.call, second)).toMatchObject({ status: 'done', reply: null })
    expect(JSON.stringify(on.upstream.requests.at(-1)?.body)).not.toContain('Keep a secret')
    expect((await noticesOf(team.call)).map(({ run_id }) => run_id)).toEqual([first.id])
    expect((await noticesOf(editor)).map(({ run_id }) => run_id)).toEqual([second.id])
    expect((await runBy(editor)).session_id).toBe(second.session_id)
    const byPerson = (await team.call<Usage>('GET', '/console/usage')).json().by_person
    expect(byPerson).toHaveLength(2)

    await team.call('PUT', `/console/schedules/${id}`, asked)
    expect(await runBy(team.call)).toMatchObject({ session_id: first.session_id, subject })
  })

  test('that a key has saved have the subject that it names', async () => {
    const mail = on.email()
    const maker = await on.personOf(mail)
    const made = await scheduled(maker, { cron: '0 8 * * *' })
    const key = await on.keyOf(mail)
    const theirs = { name: 'news', text: 'x', cron: '0 8 * * *', subject: 'ann' }
    const taken = await key<Schedule>('PUT', `/schedules/${made.id}`, theirs)
    expect(taken.json()).toMatchObject({ subject: 'ann', created_by: made.created_by })
    const run = (await key<Run>('POST', `/schedules/${made.id}/run`)).json()
    expect(run.subject).toBe('ann')
    await on.settled()
    expect((await maker('GET', '/notices')).json()).toEqual({ notices: [] })
  })

  test('of times that were missed run the latest, late, and note the others once', async () => {
    const call = await on.keyOf()
    const { id, next_at } = await scheduled(call, { cron: '0 * * * *' })
    on.clock.advance(5 * HOUR_MS + 10 * MINUTE_MS)
    await on.settled()
    const runs = await runsOf(call, id)
    expect(runs.map(({ status, late }) => [status, late]).sort()).toEqual([
      ['done', true],
      ['missed', true],
    ])
    const [done, missed] = [...runs].sort((a, b) => (a.due_at < b.due_at ? 1 : -1))
    expect(Date.parse(done?.due_at ?? '') - Date.parse(missed?.due_at ?? '')).toBe(HOUR_MS)
    expect(Date.parse(missed?.due_at ?? '')).toBeGreaterThan(Date.parse(next_at ?? ''))
  })

  test('that were missed for more than a day are only noted', async () => {
    const call = await on.keyOf()
    const { id } = await scheduled(call, { at: on.inMs(MINUTE_MS) })
    on.clock.advance(2 * DAY_MS)
    await on.settled()
    expect(await runsOf(call, id)).toMatchObject([{ status: 'missed' }])
    const schedule = (await call<Schedule>('GET', `/schedules/${id}`)).json()
    expect(schedule).toMatchObject({ next_at: null, last: { status: 'missed' } })
  })

  test('are missed while they still run, also by hand', async () => {
    const call = await on.keyOf()
    const { id } = await scheduled(call, { cron: '*/30 * * * *' })
    on.upstream.reply({ text: 'slow', hold: { after: 0, until: Promise.withResolvers().promise } })
    const first = await call<Run>('POST', `/schedules/${id}/run`)
    expect(first.status).toBe(202)
    await on.upstream.nextRequest()
    const second = (await call<Run>('POST', `/schedules/${id}/run`)).json()
    expect(second).toMatchObject({ status: 'missed', error_class: 'overlap' })
    on.clock.advance(30 * MINUTE_MS)
    await on.app.runs.tick()
    const statuses = (await runsOf(call, id)).map(({ error_class }) => error_class)
    expect(statuses.filter((one) => one === 'overlap')).toHaveLength(2)
    await call('POST', `/runs/${first.json().id}/cancel`)
    await on.app.jobs.idle()
  })

  test('give up after five failures, and begin anew when they are switched on', async () => {
    const call = await on.keyOf()
    const { id } = await scheduled(call, { cron: '0 8 * * *' })
    for (let run = 0; run < 5; run++) {
      on.upstream.fault(400)
      expect((await call<Run>('POST', `/schedules/${id}/run`)).json().status).toBe('waiting')
      await on.settled()
    }
    const paused = (await call<Schedule>('GET', `/schedules/${id}`)).json()
    expect(paused).toMatchObject({ enabled: false, next_at: null, failures: 5 })
    const { name, cron, text } = paused
    const resumed = await call<Schedule>('PUT', `/schedules/${id}`, {
      name,
      cron,
      text,
      enabled: true,
    })
    expect(resumed.json()).toMatchObject({ enabled: true, failures: 0 })
    expect(resumed.json().next_at).not.toBeNull()
  })

  test('refuse wrong times, names, tools and references', async () => {
    const call = await on.keyOf()
    const post = async (body: object) => {
      const answer = await call('POST', '/schedules', { name: 'n', text: 'x', ...body })
      return [answer.status, codeOf(answer)]
    }
    const cron = '0 8 * * *'
    expect(await post({})).toEqual([400, 'field_required'])
    expect(await post({ cron, at: on.inMs(HOUR_MS) })).toEqual([400, 'field_invalid'])
    expect(await post({ cron: '0 0 31 2 *' })).toEqual([400, 'schedule_cron'])
    expect(await post({ cron: '0 0 8 * * *' })).toEqual([400, 'schedule_cron'])
    expect(await post({ cron: '* * * * *' })).toEqual([400, 'schedule_too_often'])
    expect(await post({ cron: '0,4 8 * * *' })).toEqual([400, 'schedule_too_often'])
    expect(await post({ at: on.inMs(-2 * MINUTE_MS) })).toEqual([400, 'schedule_past'])
    expect(await post({ cron, time_zone: 'Mars/Base' })).toEqual([400, 'time_zone_unknown'])
    expect(await post({ cron, device_id: 'none' })).toEqual([404, 'not_found'])
    expect(await post({ cron, approved_tools: ['x'] })).toEqual([403, 'forbidden'])
    expect(await post({ cron, name: 'x'.repeat(61) })).toEqual([400, 'field_too_long'])
    await scheduled(call, { cron })
    expect(await post({ cron, name: 'news' })).toEqual([400, 'name_taken'])
  })

  test('are previewed and not stored', async () => {
    const call = await on.keyOf()
    const ask = async (body: object) =>
      (await call<{ next: string[] }>('POST', '/schedules/preview', body)).json().next
    const berlin = await ask({
      cron: '30 2 * * *',
      time_zone: 'Europe/Berlin',
      from: '2026-10-24T12:00:00Z',
    })
    expect(berlin).toHaveLength(10)
    expect(berlin[0]).toBe('2026-10-25T00:30:00.000Z')
    const at = on.inMs(HOUR_MS)
    expect(await ask({ at })).toEqual([at])
    expect((await call('POST', '/schedules/preview', { cron: 'x' })).status).toBe(400)
    expect((await call<{ schedules: [] }>('GET', '/schedules')).json().schedules).toEqual([])
  })

  test('go on in one conversation where they are told to', async () => {
    const call = await on.keyOf()
    const { id } = await scheduled(call, { cron: '0 8 * * *', session: 'same' })
    for (let run = 0; run < 2; run++) {
      const asked = (await call<Run>('POST', `/schedules/${id}/run`)).json()
      expect(asked.session_id).toBe(`sch-${id}`)
      await on.settled()
    }
    const { turns } = (
      await call<{ turns: unknown[] }>('GET', `/sessions/sch-${id}/transcript`)
    ).json()
    expect(turns).toHaveLength(2)
  })

  test('that run twice in a minute have a second conversation', async () => {
    const call = await on.keyOf()
    const { id } = await scheduled(call, { cron: '0 8 * * *' })
    const names: string[] = []
    for (let run = 0; run < 2; run++) {
      names.push((await call<Run>('POST', `/schedules/${id}/run`)).json().session_id)
      await on.settled()
    }
    expect(names[1]).toBe(`${names[0]}-2`)
  })

  test('are deleted by one of several calls at once', async () => {
    const call = await on.keyOf()
    const { id } = await scheduled(call, { cron: '0 8 * * *', time_zone: 'UTC' })
    const remove = () => call('DELETE', `/schedules/${id}`)
    const statuses = (await Promise.all([remove(), remove(), remove()])).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 404, 404])
  })

  test('travel with the configuration, switched off', async () => {
    const call = await on.keyOf()
    await scheduled(call, { cron: '0 8 * * *', time_zone: 'Asia/Tokyo' })
    const config = (await call<{ schedules: object[] }>('GET', '/export')).json()
    expect(config.schedules).toMatchObject([{ enabled: false }])
    expect(config.schedules).toMatchObject([{ name: 'news', cron: '0 8 * * *' }])
    const other = await on.keyOf()
    const result = await other<{ imported: object }>('POST', '/import', { config })
    expect(result.json().imported).toMatchObject({ schedules: 1 })
    const { schedules } = (await other<{ schedules: Schedule[] }>('GET', '/schedules')).json()
    expect(schedules).toMatchObject([{ name: 'news', enabled: false, next_at: null }])
    const [{ id } = { id: '' }] = schedules
    await other('POST', `/schedules/${id}/run`)
    await on.settled()
    expect(await runsOf(other, id)).toMatchObject([{ status: 'done' }])
  })
})
