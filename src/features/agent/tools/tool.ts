import type { ToolSpec } from '../../../channels/llm.ts'

export interface ToolContext {
  readonly signal: AbortSignal
  readonly tenantId: string
}

/** Something a model may ask to have done during a turn. */
export interface Tool {
  readonly spec: ToolSpec
  /**
   * Does it and answers with text for the model. `args` comes from the model and is checked here.
   * Throws an `Error` whose message the model may read when it cannot be done.
   */
  run(args: unknown, context: ToolContext): Promise<string>
}
