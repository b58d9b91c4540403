import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { MINUTE_MS } from '../../src/core/clock.ts'
import type { Notice } from '../../src/features/runs/model.ts'
import type { Call } from '../support/api.ts'
import { startRuns, type TestRuns } from '../support/runs.ts'
import { startTeam } from '../support/team.ts'

let on: TestRuns
beforeAll(async () => {
  on = await startRuns()
})
afterEach(() => on.upstream.reset())
afterAll(() => on.stop())

/** Has a reminder set in a turn of the console, and given. */
async function reminded(call: Call, text: string): Promise<void> {
  const args = JSON.stringify({ text, in_minutes: 1 })
  on.upstream.reply({ toolCalls: [{ name: 'set_reminder', arguments: args }] })
  on.upstream.reply({ text: 'ok' })
  await call('POST', '/console/agent', { text: 'remind me', session_id: text })
  on.clock.advance(MINUTE_MS)
  await on.settled()
}

const noticesOf = async (call: Call) =>
  (await call<{ notices: Notice[] }>('GET', '/console/notices')).json().notices

/** Texts of the database, newest last. */
const stored = async (tenantId: string) =>
  (
    await on.app.db.all<{ text: string }>({
      sql: 'SELECT text FROM notice WHERE tenant_id = ? ORDER BY id',
      args: [tenantId],
    })
  ).map(({ text }) => text)

test('a notice goes with its conversation, read or not, and no other one does', async () => {
  const owner = await startTeam(on.app)
  await owner.call('PUT', '/console/settings', { reminders: true })
  for (const text of ['Water', 'Milk', 'Bread']) await reminded(owner.call, text)
  const [bread, milk] = await noticesOf(owner.call)
  await owner.call('POST', `/console/notices/${milk?.id}/read`)
  for (const notice of [bread, milk]) {
    await owner.call('DELETE', `/console/sessions/${notice?.session_id}`)
  }
  expect(await stored(owner.tenantId)).toEqual(['Water'])
  expect(await noticesOf(owner.call)).toMatchObject([{ text: 'Water' }])
})

test('notices of a member go with the membership', async () => {
  const owner = await startTeam(on.app)
  await owner.call('PUT', '/console/settings', { reminders: true })
  const member = await owner.join('editor')
  await reminded(owner.call, 'Water')
  await reminded(member.call, 'Secret')
  expect(await stored(owner.tenantId)).toEqual(['Water', 'Secret'])
  expect((await owner.call('DELETE', `/console/members/${member.id}`)).status).toBe(200)
  expect(await stored(owner.tenantId)).toEqual(['Water'])
})
