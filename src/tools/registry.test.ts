import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { TOOL_RESULT_CHARS_MAX } from '../core/limits/upstream.ts'
import { charCount } from '../core/text.ts'
import { createToolRegistry } from './registry.ts'
import { defineTool, ToolFailure } from './tool.ts'

const named = (name: string, run: () => string | Promise<string> = () => name) =>
  defineTool({ name, description: name, args: z.object({ n: z.number().optional() }), run })
const context = { signal: new AbortController().signal, tenantId: 't' }

const principal = {
  kind: 'general',
  tenantId: 't',
  keyId: null,
  appId: null,
  deviceId: null,
  userId: null,
} as const

describe('the tools of a turn', () => {
  const builtIn = ['b', 'a', 'c'].map((name) => named(name))
  const ofFeature = async (_: unknown, { kb }: { kb: boolean }) => (kb ? [named('search')] : [])
  const toolsFor = createToolRegistry(builtIn, [ofFeature])
  const names = async (tools: string[] | null, kb = true) =>
    (await toolsFor(principal, { tools, kb })).map(({ spec }) => spec.name)

  test('are those of the allow-list in an order that never changes', async () => {
    expect(await names(null)).toEqual(['b', 'a', 'c', 'search'])
    expect(await names(['search', 'c', 'b', 'c', 'unknown', 'toString'])).toEqual([
      'b',
      'c',
      'search',
    ])
    expect(await names([])).toEqual([])
  })

  test('include those that a feature adds for this turn alone', async () => {
    expect(await names(['search', 'b'], false)).toEqual(['b'])
  })

  test('never have one name twice', async () => {
    expect(() => createToolRegistry([named('a'), named('a')])).toThrow('two tools are named a')
    const twice = createToolRegistry([named('search')], [ofFeature])
    await expect(twice(principal, { tools: null, kb: true })).rejects.toThrow(
      'two tools are named search',
    )
  })
})

describe('defineTool', () => {
  test('describes its arguments as JSON schema', () => {
    expect(named('a').spec).toEqual({
      name: 'a',
      description: 'a',
      parameters: { type: 'object', properties: { n: { type: 'number' } } },
    })
  })

  test.each([undefined, null, 'text', [], { n: '1' }])('refuses the arguments %p', async (args) => {
    const failure = await named('a')
      .run(args, context)
      .catch((error) => error)
    expect(failure).toBeInstanceOf(ToolFailure)
    expect(failure.message).toStartWith('invalid arguments: ')
  })

  test('caps the result without splitting a character', async () => {
    const result = await named('a', () => '😀'.repeat(TOOL_RESULT_CHARS_MAX + 1)).run({}, context)
    expect(charCount(result)).toBe(TOOL_RESULT_CHARS_MAX)
    expect(result).toEndWith('😀\n[cut here]')
  })

  test('says nothing of an unexpected fault', async () => {
    const broken = named('a', () => {
      throw new Error('secret')
    })
    const failure = await broken.run({}, context).catch((error) => error)
    expect(failure).toBeInstanceOf(ToolFailure)
    expect(failure.message).toBe('the tool failed')
  })

  test('ends with the reason of an aborted turn', async () => {
    const reason = new Error('client left')
    const aborted = { signal: AbortSignal.abort(reason), tenantId: 't' }
    expect(
      await named('a')
        .run({}, aborted)
        .catch((error) => error),
    ).toBe(reason)
  })
})
