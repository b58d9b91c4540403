import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, type ModelMessage, stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'
import { HOUR_MS, MINUTE_MS, systemClock } from '../../src/core/clock.ts'
import { RESPONSE_ITEMS_MAX as MOST } from '../../src/core/limits/machine.ts'
import { createItemStore } from '../../src/doors/openai/item-store.ts'
import { sql } from '../../src/storage/db.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { user } from '../support/completions.ts'
import { type Failover, startFailover } from '../support/failover.ts'
import { inputMessage, responseTenant, textsOf } from '../support/open-responses.ts'

let server: Failover
beforeAll(async () => {
  server = await startFailover()
})
afterEach(() => server.reset())
afterAll(() => server[Symbol.asyncDispose]())

const sent = () => server.asked(server.platform).map(({ body }) => body)
const lastMessages = () => (sent().at(-1)?.messages ?? []).slice(1) as readonly object[]
const reference = (id = '') => ({ type: 'item_reference', id })
const tenant = () => responseTenant(server.app)
const kept = () =>
  server.app.db.all<{ tenant_id: string; id: string }>(sql`SELECT tenant_id, id FROM response_item`)

const TOOLS = [
  { type: 'function', name: 'lamp', parameters: { type: 'object', properties: {} } },
  { type: 'custom', name: 'patch' },
]
const CALLS = {
  pieces: ['Wait.'],
  toolCalls: [
    { id: 'call_l', name: 'lamp', arguments: {} },
    { id: 'call_p', name: 'patch', arguments: { input: '+a' } },
  ],
}

describe('references to items', () => {
  test('references stand for the items of earlier responses, whole and streamed', async () => {
    const chat = await tenant()
    const first = user('hi')
    server.platform.chat.always(CALLS)
    const streamed = (await chat.stream({ input: [first], tools: TOOLS })).response
    for (const { output } of [await chat.whole({ input: [first], tools: TOOLS }), streamed]) {
      expect(output.map(({ type }) => type)).toEqual([
        'message',
        'function_call',
        'custom_tool_call',
      ])
      const result = { type: 'function_call_output', call_id: 'call_l', output: 'on' }
      const patched = { type: 'custom_tool_call_output', call_id: 'call_p', output: 'ok' }
      const input = [first, ...output.map(({ id }) => reference(id)), result, patched]
      await chat.whole({ input, tools: TOOLS })
      expect(lastMessages()).toMatchObject([
        first,
        {
          role: 'assistant',
          content: 'Wait.',
          tool_calls: [
            { id: 'call_l', function: { name: 'lamp', arguments: '{}' } },
            { id: 'call_p', function: { name: 'patch', arguments: '{"input":"+a"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_l', content: 'on' },
        { role: 'tool', tool_call_id: 'call_p', content: 'ok' },
      ])
    }
  })

  test('an item belongs to the key of its response', async () => {
    const chat = await tenant()
    const [item] = (await chat.whole({ input: 'hi' })).output
    const input = [user('hi'), { id: item?.id }, user('again')]
    expect((await chat.send({ input })).status).toBe(200)
    const sibling = await server.app.key(chat.email)
    const other = (await tenant()).headers
    for (const headers of [sibling.headers, other]) {
      const refused = await chat.send({ input }, headers)
      expect(refused.status).toBe(400)
      const { error } = (await refused.json()) as { error: object }
      expect(error).toMatchObject({ param: 'input[1].id', code: 'unsupported_value' })
      expect(error).toMatchObject({ message: expect.stringContaining('store: false') as unknown })
    }
  })

  test('nothing is kept of a response that is not to be stored', async () => {
    const chat = await tenant()
    const before = (await kept()).length
    await chat.stream({ input: 'hi', store: false })
    await chat.whole({ input: 'hi', store: false })
    server.platform.fault('cut', { after: 1 })
    await chat.stream({ input: 'hi' })
    expect(await kept()).toHaveLength(before)
    await chat.whole({ input: 'hi', store: true })
    expect(await kept()).toHaveLength(before + 1)
  })

  test('an item is kept for a day after its last use', async () => {
    const chat = await tenant()
    const [item] = (await chat.whole({ input: 'hi' })).output
    const input = [user('hi'), reference(item?.id), user('again')]
    for (let turn = 0; turn < 3; turn++) {
      server.clock.advance(20 * HOUR_MS)
      expect((await chat.send({ input, store: false })).status).toBe(200)
      await server.app.prune()
    }
    server.clock.advance(24 * HOUR_MS)
    expect((await chat.send({ input, store: false })).status).toBe(400)
    expect(await kept()).not.toEqual([])
    await server.app.prune()
    expect(await kept()).toEqual([])
  })

  test('references to items that no model reads are passed over', async () => {
    const chat = await tenant()
    const input = [user('hi'), reference('rs_1'), reference('fs_1')]
    await chat.whole({ input })
    expect(lastMessages()).toEqual([user('hi')])
  })

  test('a text that no log may hold is in none', async () => {
    const chat = await tenant()
    server.platform.reply({ text: 'a word of the answer' })
    const { output } = await chat.whole({ input: 'hi' })
    await chat.whole({ input: [user('hi'), reference(output[0]?.id), user('go on')] })
    await server.app.flush()
    const logs = JSON.stringify(await chat.call('GET', '/logs'))
    expect(logs).toContain('/v1/responses')
    expect(logs).not.toContain('a word of the answer')
  })

  test('a server that keeps no items refuses references and serves the rest', async () => {
    await using other = await startFailover({ MB_RESPONSE_HOURS: '0' })
    const chat = await responseTenant(other.app)
    const { output } = await chat.whole({ input: 'hi', store: true })
    const refused = await chat.send({ input: [reference(output[0]?.id), user('again')] })
    expect(refused.status).toBe(400)
  })
})

test('a tenant keeps its newest items, up to a number and a size', async () => {
  const { tenantId, id: keyId } = await tenant()
  const { tenantId: otherId } = await tenant()
  const owner = { tenantId, keyId }
  const ids = ['a', 'b', 'c', 'd', 'e']
  const store = createItemStore(server.app.db, { items: 3, bytes: 20 })
  const left = async () => {
    const found = await store.find(owner, 0, ids)
    return found.map(({ id }) => id).toSorted()
  }
  await store.add({ tenantId: otherId, keyId }, 1, [{ id: 'a', item: '"1"' }])
  await store.add(owner, 1, [{ id: 'a', item: '"1"' }])
  await store.add(owner, 2, [{ id: 'b', item: '"2"' }])
  await store.touch(owner, 3, ['a'])
  await store.add(owner, 4, [
    { id: 'c', item: '"3"' },
    { id: 'd', item: '"4"' },
  ])
  await store.trim(tenantId)
  expect(await left()).toEqual(['a', 'c', 'd'])
  await store.add(owner, 5, [{ id: 'e', item: '"a long item 5"' }])
  await store.trim(tenantId)
  expect(await left()).toEqual(['d', 'e'])
  expect(await store.find({ tenantId: otherId, keyId }, 0, ids)).toHaveLength(1)
})

/** A tenant with one item more than it keeps: that of its last answer. */
async function overfull(app: TestApp, now: number) {
  const chat = await responseTenant(app)
  await app.db.run(sql`
    WITH RECURSIVE place (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM place WHERE n < ${MOST})
    INSERT INTO response_item (tenant_id, id, key_id, bytes, used_at, item)
    SELECT ${chat.tenantId}, 'old_' || n, 'k', 1, ${now - 1}, '1' FROM place`)
  const [item] = (await chat.whole({ input: 'hi' })).output
  const rows = () =>
    app.db.all<{ id: string }>(sql`SELECT id FROM response_item WHERE tenant_id = ${chat.tenantId}`)
  const ids = async () => (await rows()).map(({ id }) => id)
  expect(await ids()).toHaveLength(MOST + 1)
  return { ids, newest: item?.id ?? '' }
}

test('after the next clean-up the tenant of an answer is at its limit', async () => {
  const { ids, newest } = await overfull(server.app, server.clock.now())
  await server.app.prune()
  expect(await ids()).toHaveLength(MOST)
  expect(await ids()).toContain(newest)
})

test('after a minute the tenant of an answer is at its limit', async () => {
  const due: (() => void)[] = []
  const every = (ms: number, task: () => void) => {
    if (ms === MINUTE_MS) due.push(task)
    return () => {}
  }
  await using app = await startApp({ clock: { ...systemClock(), every } })
  const { ids, newest } = await overfull(app, Date.now())
  for (const task of due) task()
  await app.jobs.idle()
  expect(await ids()).toHaveLength(MOST)
  expect(await ids()).toContain(newest)
})

describe("the AI SDK's default API", () => {
  const lamp = tool({
    description: 'Turns a lamp on.',
    inputSchema: z.object({ room: z.string() }),
    execute: ({ room }) => `The lamp in the ${room} is on.`,
  })
  const options = { tools: { lamp }, stopWhen: stepCountIs(3) }
  const LAMP = { toolCalls: [{ name: 'lamp', arguments: { room: 'hall' } }] }

  test.each(['whole', 'streamed'])('three turns with tools, %s', async (how) => {
    const chat = await tenant()
    const model = createOpenAI({ apiKey: chat.key, baseURL: `${server.app.url}/v1` })('moonbase')
    const messages: ModelMessage[] = []
    for (const question of ['The hall, please.', 'And again?', 'Thanks. What was on?']) {
      messages.push({ role: 'user', content: question })
      if (!question.startsWith('Thanks')) server.platform.reply(LAMP)
      server.platform.reply({ text: `Done: ${question}` })
      if (how === 'whole') {
        const { responseMessages, text } = await generateText({ model, messages, ...options })
        expect(text).toBe(`Done: ${question}`)
        messages.push(...responseMessages)
      } else {
        const { responseMessages, text } = streamText({ model, messages, ...options })
        expect(await text).toBe(`Done: ${question}`)
        messages.push(...(await responseMessages))
      }
    }
    const roles = lastMessages().map((message) => ('role' in message ? message.role : ''))
    const round = ['user', 'assistant', 'tool', 'assistant']
    expect(roles).toEqual([...round, ...round, 'user'])
    expect(JSON.stringify(lastMessages())).toContain('The lamp in the hall is on.')
    expect(JSON.stringify(lastMessages())).toContain('Done: The hall, please.')
  })
})

test('a whole item of an answer may be sent back as before', async () => {
  const chat = await tenant()
  const { output } = await chat.whole({ input: 'hi', store: false })
  const response = await chat.whole({ input: [user('hi'), ...output, inputMessage('user', 'go')] })
  expect(textsOf(response)).toMatchObject([{ text: '好的' }])
})
