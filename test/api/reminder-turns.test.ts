import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from '../../src/storage/db.ts'
import { caller } from '../support/api.ts'
import { clientTool, completions, user } from '../support/completions.ts'
import { type Failover, startFailover } from '../support/failover.ts'
import { schedulesOf } from '../support/runs.ts'

let server: Failover
beforeAll(async () => {
  server = await startFailover()
})
afterEach(() => server.reset())
afterAll(() => server[Symbol.asyncDispose]())

const set = (text: string) => ({
  toolCalls: [{ name: 'set_reminder', arguments: { text, in_minutes: 60 } }],
})

/** A tenant with its own channel and reminders; all turns are for one subject. */
async function reminded() {
  const { headers, tenantId, ask } = await server.tenant()
  const call = caller(`${server.app.url}/v1`, headers)
  await server.app.db.run(sql`
    UPDATE tenant_settings SET reminders = 1 WHERE tenant_id = ${tenantId}`)
  return {
    headers,
    ask: () => ask({ subject: 'ann' }),
    reminders: async () => (await schedulesOf(call)).map(({ id, text }) => ({ id, text })),
  }
}

describe('reminders of a turn that starts over on the platform', () => {
  test('are set once, by the channel that answers', async () => {
    const { ask, reminders } = await reminded()
    server.byo.reply(set('Tea, says the first'))
    server.byo.fault(400)
    server.platform.reply(set('Tea'))
    server.platform.reply({ text: 'I shall.' })
    expect((await ask()).at(-1)).toMatchObject({ type: 'llm_end', reply: 'I shall.' })
    expect(await reminders()).toMatchObject([{ text: 'Tea' }])
  })

  test('stay when only the channel that failed has canceled them', async () => {
    const { ask, reminders } = await reminded()
    server.byo.reply(set('Tea'))
    server.byo.reply({ text: 'I shall.' })
    await ask()
    const before = await reminders()
    expect(before).toHaveLength(1)
    const id = before[0]?.id ?? ''
    server.byo.reply({ toolCalls: [{ name: 'cancel_reminder', arguments: { id } }] })
    server.byo.fault(400)
    server.platform.reply({ text: 'Hello.' })
    expect((await ask()).at(-1)).toMatchObject({ type: 'llm_end', reply: 'Hello.' })
    expect(await reminders()).toEqual(before)
  })
})

test.each([{}, { session_id: 's' }])(
  'a turn that ends in calls of the client keeps the reminders that it has set: %j',
  async (session) => {
    const { headers, reminders } = await reminded()
    server.byo.reply(set('Tea'))
    server.byo.reply({ toolCalls: [{ name: 'lamp', id: 'call_l', arguments: { name: 'desk' } }] })
    const body = { messages: [user('hi')], tools: [clientTool('lamp')], subject: 'ann', ...session }
    const { calls } = await completions(server.app.url, headers).stream(body)
    expect(calls).toMatchObject([{ id: 'call_l' }])
    expect(await reminders()).toMatchObject([{ text: 'Tea' }])
  },
)
