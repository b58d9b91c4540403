import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { TOOL_CALLS_PER_TURN_MAX, TOOLS_AT_ONCE_MAX } from '../core/limits/machine.ts'
import { NO_LOG } from '../core/log.ts'
import { defineTool } from './tool.ts'
import { createToolBox, createToolRegistry } from './tool-box.ts'

const { signal } = new AbortController()
const calls = (count: number, args = '{}') =>
  Array.from({ length: count }, (_, i) => ({ id: `call_${i}`, name: 'work', arguments: args }))

const boxOf = (run: () => string | Promise<string>) => {
  const tool = defineTool({ name: 'work', description: 'works', args: z.object({}), run })
  return createToolBox([tool], 'tenant', NO_LOG)
}

test('few of the calls of a model run at a time, and all are answered in order', async () => {
  let running = 0
  let most = 0
  let count = 0
  const box = boxOf(async () => {
    most = Math.max(most, ++running)
    await new Promise((resolve) => setImmediate(resolve))
    running--
    return String(count++)
  })
  const results = await Promise.all(calls(20).map((call) => box.run(call, signal)))
  expect(most).toBe(TOOLS_AT_ONCE_MAX)
  expect(results.map(({ content }) => content)).toEqual(Array.from(results, (_, i) => String(i)))
})

test('other requests get their turn between calls that take the processor', async () => {
  const box = boxOf(() => 'done')
  let turns = 0
  let over = false
  const look = () => {
    turns++
    if (!over) setImmediate(look)
  }
  setImmediate(look)
  await Promise.all(calls(40).map((call) => box.run(call, signal)))
  over = true
  expect(turns).toBeGreaterThanOrEqual(40 / TOOLS_AT_ONCE_MAX)
})

test('a turn runs a limited number of tool calls', async () => {
  let count = 0
  const box = boxOf(() => String(++count))
  const results = await Promise.all(
    calls(TOOL_CALLS_PER_TURN_MAX + 2).map((call) => box.run(call, signal)),
  )
  expect(results.filter(({ ok }) => ok)).toHaveLength(TOOL_CALLS_PER_TURN_MAX)
  expect(count).toBe(TOOL_CALLS_PER_TURN_MAX)
  expect(results.at(-1)).toEqual({
    ok: false,
    content: 'Error: This turn has used all its tool calls.',
  })
})

test('arguments that nest without end are no arguments', async () => {
  const box = boxOf(() => 'done')
  const [call] = calls(1, '['.repeat(1_000_000))
  if (!call) throw new Error('no call')
  expect(await box.run(call, signal)).toEqual({
    ok: false,
    content: 'Error: The arguments are not valid JSON.',
  })
})

test('a call of a tool that does not exist is answered in short', async () => {
  const name = '\0'.repeat(100_000)
  const { ok, content } = await boxOf(() => '').run({ id: 'a', name, arguments: '{}' }, signal)
  expect(ok).toBe(false)
  expect(content).toStartWith('Error: There is no tool named "')
  expect(content.length).toBeLessThan(500)
})

const named = (name: string) =>
  defineTool({ name, description: name, args: z.object({}), run: () => name })

describe('the tools of a turn', () => {
  const ofAll = { current: ['b', 'a', 'c'].map(named) }
  const search = named('search')
  const builtInTools = createToolRegistry(ofAll, [search])
  const names = (tools: string[] | null, kb = true) =>
    builtInTools({ tools, kb }).map(({ spec }) => spec.name)

  test('a turn is offered the tools of the allow-list in an order that never changes', () => {
    expect(names(null)).toEqual(['b', 'a', 'c', 'search'])
    expect(names(['search', 'c', 'b', 'c', 'unknown', 'toString'])).toEqual(['b', 'c', 'search'])
    expect(names([])).toEqual([])
  })

  test('a turn without the knowledge base is offered no search of it', () => {
    expect(names(null, false)).toEqual(['b', 'a', 'c'])
    expect(names(['search', 'b'], false)).toEqual(['b'])
  })

  test('a turn is offered the tools as they are when it begins', () => {
    const before = ofAll.current
    ofAll.current = [named('d')]
    expect(names(null)).toEqual(['d', 'search'])
    ofAll.current = before
  })

  test('two built-in tools never have one name', () => {
    const twice = { current: [named('a'), named('a')] }
    expect(() => createToolRegistry(twice, [])).toThrow('two tools are named a')
    expect(() => createToolRegistry({ current: [search] }, [search])).toThrow(
      'two tools are named search',
    )
  })
})
