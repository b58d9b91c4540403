import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { TOOL_RESULT_CHARS_MAX } from '../core/limits/upstream.ts'
import { charCount } from '../core/text.ts'
import { defineTool, ToolFailure } from './tool.ts'

const named = (name: string, run: () => string | Promise<string> = () => name) =>
  defineTool({ name, description: name, args: z.object({ n: z.number().optional() }), run })
const context = { signal: new AbortController().signal, tenantId: 't' }

describe('a defined tool', () => {
  test('a tool describes its arguments as JSON schema', () => {
    expect(named('a').spec).toEqual({
      name: 'a',
      description: 'a',
      parameters: { type: 'object', properties: { n: { type: 'number' } } },
    })
  })

  test.each([undefined, null, 'text', [], { n: '1' }])(
    'a tool refuses the arguments %p',
    async (args) => {
      const failure = await named('a')
        .run(args, context)
        .catch((error) => error)
      expect(failure).toBeInstanceOf(ToolFailure)
      expect(failure.message).toStartWith('invalid arguments: ')
    },
  )

  test('the result of a tool is cut without splitting a character', async () => {
    const result = await named('a', () => '😀'.repeat(TOOL_RESULT_CHARS_MAX + 1)).run({}, context)
    expect(charCount(result)).toBe(TOOL_RESULT_CHARS_MAX)
    expect(result).toEndWith('😀\n[cut here]')
  })

  test('an unexpected error of a tool stays out of its message', async () => {
    const broken = named('a', () => {
      throw new Error('secret')
    })
    const failure = await broken.run({}, context).catch((error) => error)
    expect(failure).toBeInstanceOf(ToolFailure)
    expect(failure.message).toBe('the tool failed')
  })

  test('a tool ends with the reason of an aborted turn', async () => {
    const reason = new Error('client left')
    const aborted = { signal: AbortSignal.abort(reason), tenantId: 't' }
    expect(
      await named('a')
        .run({}, aborted)
        .catch((error) => error),
    ).toBe(reason)
  })
})
