import { z } from 'zod'
import { TOOL_RESULT_CHARS_MAX } from '../core/limits/upstream.ts'
import { charCount, firstChars } from '../core/text.ts'
import type { Collections } from '../storage/collections.ts'
import type { ToolSpec } from '../upstream/ports/llm.ts'
import type { Person } from './asking.ts'

export interface ToolContext {
  readonly signal: AbortSignal
  readonly tenantId: string
  /** Whom a tool may ask; absent where nobody answers. */
  readonly person?: Person
  /** Tools that may act without asking, as they were when a person said so. */
  readonly approved?: readonly ApprovedTool[]
  /** What the turn sees of the documents; null: all; absent: none. */
  readonly collections?: Collections
}

/** A tool by the name that models call it by, and the hash of what was approved. */
export interface ApprovedTool {
  readonly name: string
  readonly hash: string
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

/** Nobody is there whom the tool could ask. */
export class NeedsApproval extends ToolFailure {
  constructor() {
    super("needs a person's approval")
  }
}

/** The person did not allow it, or did not answer in time. */
export class Declined extends ToolFailure {
  constructor() {
    super('declined by the person')
  }
}

export interface ToolDescription<Schema extends z.ZodType> {
  readonly name: string
  readonly description: string
  readonly args: Schema
}

export interface ToolDefinition<Schema extends z.ZodType> extends ToolDescription<Schema> {
  run(args: z.output<Schema>, context: ToolContext): string | Promise<string>
}

/** Defines a tool: its arguments are validated, its text is capped, its errors are sanitised. */
export const defineTool = <Schema extends z.ZodType>(definition: ToolDefinition<Schema>): Tool =>
  describeTool(definition)((args, context) => definition.run(args, context))

/**
 * Describes a tool that each turn gives its own `run`: what the model reads of it is made once,
 * because the schema costs more than the rest of the tool.
 */
export function describeTool<Schema extends z.ZodType>(about: ToolDescription<Schema>) {
  const { $schema: _, ...parameters } = z.toJSONSchema(about.args, { io: 'input' })
  const spec: ToolSpec = { name: about.name, description: about.description, parameters }
  return (run: ToolDefinition<Schema>['run']): Tool => ({
    spec,
    async run(args, context) {
      context.signal.throwIfAborted()
      const parsed = about.args.safeParse(args)
      if (!parsed.success) throw new ToolFailure(describe(parsed.error))
      try {
        return capped(await run(parsed.data, context))
      } catch (error) {
        context.signal.throwIfAborted()
        if (error instanceof ToolFailure) throw error
        throw new ToolFailure('the tool failed', { cause: error })
      }
    },
  })
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
