import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import codex from '../fixtures/response-requests/codex-0.169.json'
import { type Failover, startFailover } from '../support/failover.ts'
import { responseTenant } from '../support/open-responses.ts'

let server: Failover
beforeAll(async () => {
  server = await startFailover()
})
afterEach(() => server.reset())
afterAll(() => server[Symbol.asyncDispose]())

const { settings, tools, opening, rounds } = codex
const FIRST = { ...settings, tools, input: opening }
const LATER = { ...settings, tools, input: [...opening, ...rounds] }
const tenant = () => responseTenant(server.app)
const request = () => server.asked(server.platform).at(-1)?.body

interface Offered {
  readonly function: { name: string; description?: string; parameters: object }
}
const offered = () =>
  ((request()?.tools ?? []) as Offered[])
    .map((tool) => tool.function)
    .filter(({ name }) => !['current_time', 'calculator', 'fetch_url'].includes(name))

const NAMES = ['exec_command', 'multi_agent_v1__close_agent', 'apply_patch', 'tool_search']

/** The items of an answer in which the model calls one tool. */
async function itemsOf(name: string, given: unknown, body: object = FIRST) {
  const chat = await tenant()
  const call = { toolCalls: [{ id: 'call_9', name, arguments: given }] }
  server.platform.chat.always(call)
  const { order, response } = await chat.stream(body)
  const { stream: _, ...whole } = body as { stream?: boolean }
  const { output } = await chat.whole(whole)
  const withoutId = (items: readonly object[]) => items.map((item) => ({ ...item, id: '' }))
  expect(withoutId(output)).toEqual(withoutId(response.output))
  return { order, items: response.output }
}

describe('requests of Codex with its default settings', () => {
  test('tools of all kinds become functions, and hosted ones are left out', async () => {
    const chat = await tenant()
    const { response } = await chat.stream(FIRST)
    expect(response.status).toBe('completed')
    expect(offered().map(({ name }) => name)).toEqual(NAMES)
    const patch = offered()[2]
    expect(patch?.parameters).toMatchObject({
      properties: { input: { type: 'string' } },
      required: ['input'],
    })
    expect(patch?.description).toContain('Changes files.')
    expect(patch?.description).toContain('lark grammar:\nstart: line+')
    const echoed: readonly { type: string }[] = response.tools
    expect(echoed.map(({ type }) => type)).toEqual([
      'function',
      'namespace',
      'custom',
      'tool_search',
    ])
  })

  test('calls and results of all kinds come back as one history', async () => {
    const chat = await tenant()
    await chat.stream(LATER)
    const call = (id: string, name: string, args: object) => ({
      role: 'assistant',
      tool_calls: [{ id, function: { name, arguments: JSON.stringify(args) } }],
    })
    const result = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content })
    expect(request()?.messages.slice(3)).toMatchObject([
      call('call_1', 'multi_agent_v1__close_agent', { target: 'a' }),
      result('call_1', 'no such agent'),
      call('call_2', 'apply_patch', { input: '+a\n' }),
      result('call_2', 'changed'),
      call('call_3', 'tool_search', { query: 'calendar', limit: 5 }),
      result('call_3', 'These tools can be called now: mcp__calendar__list_days'),
    ])
    expect(offered().map(({ name }) => name)).toEqual([...NAMES, 'mcp__calendar__list_days'])
  })

  test('a call of a tool of a namespace names both', async () => {
    const { items } = await itemsOf('multi_agent_v1__close_agent', { target: 'a' })
    expect(items).toMatchObject([
      {
        type: 'function_call',
        call_id: 'call_9',
        name: 'close_agent',
        namespace: 'multi_agent_v1',
        arguments: '{"target":"a"}',
        status: 'completed',
      },
    ])
    const found = await itemsOf('mcp__calendar__list_days', {}, LATER)
    expect(found.items).toMatchObject([{ name: 'list.days', namespace: 'mcp__calendar' }])
    const plain = await itemsOf('exec_command', { cmd: 'ls' })
    expect(plain.items[0]).not.toHaveProperty('namespace')
  })

  test('a call of a custom tool has its input as text', async () => {
    const { items, order } = await itemsOf('apply_patch', { input: '+b\n' })
    const call = { type: 'custom_tool_call', call_id: 'call_9', name: 'apply_patch' }
    expect(items).toMatchObject([{ ...call, input: '+b\n', status: 'completed' }])
    expect(order).toContain('custom_tool_call_input.delta custom_tool_call_input.done')
    const bare = await itemsOf('apply_patch', '+b\n')
    expect(bare.items).toMatchObject([{ ...call, input: '+b\n' }])
  })

  test('a search for tools is run by the client', async () => {
    const { items } = await itemsOf('tool_search', { query: 'mail' })
    expect(items).toMatchObject([
      {
        type: 'tool_search_call',
        call_id: 'call_9',
        execution: 'client',
        arguments: { query: 'mail' },
        status: 'completed',
      },
    ])
  })

  test('a namespace with a long name keeps its tools apart', async () => {
    const chat = await tenant()
    const parameters = { type: 'object', properties: {} }
    const inner = ['one', 'two'].map((name) => ({ type: 'function', name, parameters }))
    const long = { type: 'namespace', name: 'n'.repeat(80), description: '', tools: inner }
    server.platform.chat.always(({ body }) => {
      const names = (body.tools as Offered[]).map((tool) => tool.function.name)
      return { toolCalls: [{ name: names.at(-1) ?? '', arguments: {} }] }
    })
    const { response } = await chat.stream({ ...FIRST, tools: [long] })
    expect(new Set(offered().map(({ name }) => name)).size).toBe(2)
    for (const { name } of offered()) expect(name).toMatch(/^[\w-]{1,64}$/)
    expect(response.output).toMatchObject([{ name: 'two', namespace: long.name }])
  })

  test('a choice names tools of all kinds, and a hosted one leaves the model free', async () => {
    const chat = await tenant()
    const chosen = async (choice: object) => {
      await chat.stream({ ...FIRST, tool_choice: choice })
      return request()?.tool_choice
    }
    const named = (name: string) => ({ type: 'function', function: { name } })
    expect(await chosen({ type: 'custom', name: 'apply_patch' })).toEqual(named('apply_patch'))
    expect(
      await chosen({ type: 'function', namespace: 'multi_agent_v1', name: 'close_agent' }),
    ).toEqual(named('multi_agent_v1__close_agent'))
    expect(await chosen({ type: 'web_search' })).toBeUndefined()
  })

  test('an unknown type of tool is refused by its name', async () => {
    const chat = await tenant()
    const refused = await chat.refused({ ...FIRST, tools: [...tools, { type: 'teleport' }] })
    expect(refused).toMatchObject({
      status: 400,
      param: 'tools[5].type',
      code: 'unsupported_value',
      message: '不支持字段 tools[5].type: teleport 的这个值',
    })
    const long = await chat.refused({ ...FIRST, tools: [{ type: 'x'.repeat(100) }] })
    expect(long).toMatchObject({ message: `不支持字段 tools[0].type: ${'x'.repeat(40)} 的这个值` })
    const words = await chat.refused({ ...FIRST, tools: [{ type: 'a secret of mine' }] })
    expect(JSON.stringify(words)).not.toContain('secret')
  })
})
