import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Run } from '../../src/features/runs/model.ts'
import type { IssuedTrigger } from '../../src/features/triggers/model.ts'
import { type Call, caller } from '../support/api.ts'
import { runOf, scheduled, startRuns, type TestRuns } from '../support/runs.ts'
import { postSse } from '../support/sse.ts'
import { startTeam } from '../support/team.ts'

/** Runs name their sessions; nobody but a run, and a general key, begins one of such a name. */

let on: TestRuns
beforeAll(async () => {
  on = await startRuns()
})
afterAll(() => on.stop())

const under = (call: Call, root: string): Call =>
  ((method, path, body) => call(method, root + path, body)) as Call

async function turnIn(headers: Record<string, string>, door: string, session_id: string) {
  const url = `${on.app.url}${door}/agent`
  const answer = await postSse(url, { headers, body: { text: 'mine', session_id } })
  if (answer.status === 200) await answer.all()
  return answer.status
}

describe('a colleague who knows the id', () => {
  test.each(['viewer', 'editor'] as const)(
    '%s does not take the session of a schedule',
    async (role) => {
      const team = await startTeam(on.app)
      const owner = under(team.call, '/console')
      const thief = await team.join(role)
      const { id } = await scheduled(owner, { cron: '0 8 * * *', session: 'same' })
      const minute = '20261123T0800'
      for (const name of [`sch-${id}`, `sch-${id}-${minute}`, `trg-${id}`, `run-${id}`]) {
        expect(await turnIn(thief.headers, '/console', name)).toBe(404)
      }
      const { id: run } = (await owner<Run>('POST', `/schedules/${id}/run`)).json()
      await on.settled()
      const done = await runOf(owner, run, '?reply=1')
      expect(done).toMatchObject({ status: 'done', session_id: `sch-${id}`, reply: '好的' })
      expect(await turnIn(thief.headers, '/console', `sch-${id}`)).toBe(404)
      expect(await turnIn(team.headers, '/console', `sch-${id}`)).toBe(200)
    },
  )

  test('has no run begin it either', async () => {
    const team = await startTeam(on.app)
    const { id } = await scheduled(under(team.call, '/console'), { cron: '0 8 * * *' })
    const { call } = await team.join('editor')
    const taken = { text: 'mine', session_id: `sch-${id}` }
    expect((await call('POST', '/console/runs', taken)).status).toBe(404)
    expect((await call('POST', '/console/runs', { text: 'mine' })).status).toBe(202)
    await on.settled()
  })

  test('puts no words before those of a trigger', async () => {
    const team = await startTeam(on.app)
    const thief = await team.join('editor')
    const made = { name: 'bell', text: 'Keep', session: 'same' }
    const { id, url } = (await team.call<IssuedTrigger>('POST', '/console/triggers', made)).json()
    expect(await turnIn(thief.headers, '/console', `trg-${id}`)).toBe(404)
    const path = new URL(url).pathname
    const hook = await fetch(on.app.url + path, { method: 'POST', body: 'x' })
    const { run_id } = (await hook.json()) as { run_id: string }
    await on.settled()
    const run = await runOf(under(team.call, '/console'), run_id)
    expect(run).toMatchObject({ status: 'done', session_id: `trg-${id}` })
  })
})

test('a key of an app begins none, a general key may, and other names are free', async () => {
  const mail = on.email()
  const general = await on.app.key(mail)
  const call = caller(`${on.app.url}/v1`, general.headers)
  const { id: app_id } = (await call<{ id: string }>('POST', '/apps', { name: 'a' })).json()
  const { id } = await scheduled(call, { cron: '0 8 * * *', session: 'same' })
  const app = await on.app.key(mail, { appId: app_id })
  expect(await turnIn(app.headers, '/v1', `sch-${id}`)).toBe(404)
  for (const name of ['sch-1', 'run-me', 'trg-', `x-sch-${id}`]) {
    expect(await turnIn(app.headers, '/v1', name)).toBe(200)
  }
  expect(await turnIn(general.headers, '/v1', `sch-${id}`)).toBe(200)
})
