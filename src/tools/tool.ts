import { z } from 'zod'
import { TOOL_RESULT_CHARS_MAX } from '../core/limits/upstream.ts'
import { charCount, firstChars } from '../core/text.ts'
import type { ToolSpec } from '../upstream/ports/llm.ts'

export interface ToolContext {
  readonly signal: AbortSignal
  readonly tenantId: string
}

/** Something the model may call during a turn. */
export interface Tool {
  readonly spec: ToolSpec
  /**
   * Returns text for the model, at most `TOOL_RESULT_CHARS_MAX` code points. `args` is the JSON
   * that the model wrote, parsed and otherwise unchecked. Throws `ToolFailure`, whose message the
   * model may read, or the signal's reason when the turn was aborted.
   */
  run(args: unknown, context: ToolContext): Promise<string>
}

/** The tool could not do what was asked. The message is short, English and safe to show. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure'
}

export interface ToolDefinition<Schema extends z.ZodType> {
  readonly name: string
  readonly description: string
  readonly args: Schema
  run(args: z.output<Schema>, context: ToolContext): string | Promise<string>
}

/** Defines a tool: its arguments are validated, its text is capped, its errors are sanitised. */
export function defineTool<Schema extends z.ZodType>(definition: ToolDefinition<Schema>): Tool {
  const { $schema: _, ...parameters } = z.toJSONSchema(definition.args, { io: 'input' })
  return {
    spec: { name: definition.name, description: definition.description, parameters },
    async run(args, context) {
      context.signal.throwIfAborted()
      const parsed = definition.args.safeParse(args)
      if (!parsed.success) throw new ToolFailure(describe(parsed.error))
      try {
        return capped(await definition.run(parsed.data, context))
      } catch (error) {
        context.signal.throwIfAborted()
        if (error instanceof ToolFailure) throw error
        throw new ToolFailure('the tool failed', { cause: error })
      }
    },
  }
}

function describe(error: z.ZodError): string {
  const [issue] = error.issues
  const field = issue?.path.join('.') || 'arguments'
  return `invalid arguments: ${field}: ${issue?.message ?? 'not understood'}`
}

function capped(text: string): string {
  if (charCount(text) <= TOOL_RESULT_CHARS_MAX) return text
  const mark = '\n[cut here]'
  return firstChars(text, TOOL_RESULT_CHARS_MAX - mark.length) + mark
}
