import { describe, expect, test } from 'bun:test'
import { TOOL_ARGUMENTS_CHARS_MAX, TOOL_CALLS_MAX } from '../../core/limits/upstream.ts'
import { ChannelFailure } from '../../upstream/ports/failure.ts'
import { createToolCalls, type ToolFragment } from './tool-calls.ts'

function assemble(...fragments: readonly ToolFragment[]) {
  const calls = createToolCalls()
  for (const fragment of fragments) calls.add(fragment)
  return calls.finish()
}
const fn = (name?: string | null, args?: unknown) => ({ function: { name, arguments: args } })

const TIME = { id: 'call_1', name: 'current_time', arguments: '{"zone":"UTC"}' }

describe('tool calls from fragments', () => {
  test('a tool call may have its arguments split anywhere', () => {
    const args = [...'{"zone":"UTC"}'].map((part) => ({ index: 0, ...fn(undefined, part) }))
    expect(assemble({ index: 0, id: 'call_1', ...fn('current_time', '') }, ...args)).toEqual([TIME])
  })

  test('a tool call may arrive whole in one fragment', () => {
    expect(assemble({ index: 0, id: 'call_1', ...fn('current_time', '{"zone":"UTC"}') })).toEqual([
      TIME,
    ])
  })

  test('several tool calls may arrive interleaved', () => {
    const calls = assemble(
      { index: 0, id: 'a', ...fn('f', '') },
      { index: 1, id: 'b', ...fn('g', '') },
      { index: 1, ...fn(null, '{"y"') },
      { index: 0, ...fn(null, '{"x"') },
      { index: 0, ...fn(null, ':1}') },
      { index: 1, ...fn(null, ':2}') },
    )
    expect(calls).toEqual([
      { id: 'a', name: 'f', arguments: '{"x":1}' },
      { id: 'b', name: 'g', arguments: '{"y":2}' },
    ])
  })

  test('tool calls may lack their index', () => {
    const calls = assemble(
      { id: 'a', ...fn('f', '{"x"') },
      { ...fn(undefined, ':1}') },
      { id: 'b', ...fn('g', '{"y"') },
      { id: 'b', ...fn(undefined, ':2}') },
    )
    expect(calls.map(({ id, arguments: args }) => [id, args])).toEqual([
      ['a', '{"x":1}'],
      ['b', '{"y":2}'],
    ])
  })

  test('tool calls may lack index and id', () => {
    const calls = assemble(
      fn('f', '{"x":1}'),
      fn('f', '{"x":2}'),
      fn('g', '{"y"'),
      fn('g', ':2}'),
      fn('', ''),
    )
    expect(calls.map(({ name, arguments: args }) => [name, args])).toEqual([
      ['f', '{"x":1}'],
      ['f', '{"x":2}'],
      ['g', '{"y":2}'],
    ])
    expect(new Set(calls.map(({ id }) => id)).size).toBe(3)
    for (const { id } of calls) expect(id).toMatch(/^call_/)
  })

  test('tool calls may repeat name and id in every fragment', () => {
    const repeated = (args: string) => ({ index: 0, id: 'call_1', ...fn('current_time', args) })
    expect(assemble(repeated(''), repeated('{"zone":'), repeated('"UTC"}'))).toEqual([TIME])
  })

  test('the id of a tool call may come late, or change without a name', () => {
    expect(
      assemble(
        { index: 0, ...fn('current_time') },
        { index: 0, id: 'call_1', ...fn('', '{"zone":') },
        { index: 0, id: 'call_9', ...fn('', '"UTC"}') },
      ),
    ).toEqual([TIME])
  })

  test('the name of a tool call may be split, and follow the arguments', () => {
    expect(
      assemble(
        { index: 0, id: 'call_1', ...fn('current') },
        { index: 0, ...fn('_time') },
        { index: 0, ...fn(undefined, '{"zone":"UTC"}') },
      ),
    ).toEqual([TIME])
    expect(
      assemble({ id: 'call_1', ...fn(undefined, '{"zone":"UTC"}') }, { ...fn('current_time') }),
    ).toEqual([TIME])
  })

  test('every tool call may have index 0', () => {
    const calls = assemble(
      { index: 0, id: 'a', ...fn('f', '{"x":1}') },
      { index: 0, id: 'b', ...fn('f', '{"x":2}') },
    )
    expect(calls.map(({ id }) => id)).toEqual(['a', 'b'])
  })

  test('ids of tool calls are made unique', () => {
    const calls = assemble(
      { index: 0, id: 'same', ...fn('f', '{}') },
      { index: 1, id: 'same', ...fn('g', '{}') },
    )
    expect(calls.map(({ name }) => name)).toEqual(['f', 'g'])
    expect(calls[0]?.id).toBe('same')
    expect(calls[1]?.id).not.toBe('same')
  })

  test('tool call arguments may be missing, an object or malformed', () => {
    expect(assemble({ index: 0, ...fn('f') })[0]?.arguments).toBe('{}')
    expect(assemble({ index: 0, ...fn('f', { x: 1 }) })[0]?.arguments).toBe('{"x":1}')
    expect(assemble({ index: 0, ...fn('f', '{"x":') })[0]?.arguments).toBe('{"x":')
  })

  test('malformed tool calls are ignored, and one without a name fails', () => {
    const calls = createToolCalls()
    for (const nonsense of [null, 'x', 7]) calls.add(nonsense as unknown as ToolFragment)
    expect(calls.finish()).toEqual([])
    expect(() => assemble({ index: 0, id: 'a', ...fn(null, '{}') })).toThrow(ChannelFailure)
  })

  test('the number of tool calls and their ids, names and arguments are bounded', () => {
    const many = Array.from({ length: TOOL_CALLS_MAX + 1 }, (_, index) => ({ index, ...fn('f') }))
    expect(() => assemble(...many)).toThrow(ChannelFailure)
    const long = 'x'.repeat(TOOL_ARGUMENTS_CHARS_MAX / 2 + 1)
    const fragment = (index: number) => ({ index, ...fn('f', long) })
    expect(() => assemble(fragment(0), fragment(1))).toThrow(ChannelFailure)
    expect(() => assemble(fn(long), fn(`${long}y`))).toThrow(ChannelFailure)
    const named = (index: number) => ({ index, id: `${index}${long}`, ...fn('f') })
    expect(() => assemble(named(0), named(1))).toThrow(ChannelFailure)
  })

  test('the work of a tool call in many fragments that all name it is bounded', () => {
    const piece = `${' '.repeat(100)},{}`
    const pieces = Array.from({ length: 2_000 }, () => fn('f', piece))
    expect(() => assemble(fn('f', '{"x":[{}'), ...pieces)).toThrow(ChannelFailure)
    expect(assemble(fn('f', '{"x":1'), fn('f', '}'))).toHaveLength(1)
  })
})
