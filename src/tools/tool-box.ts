import type { ToolCall, ToolSpec } from '../channels/ports/llm.ts'
import { parseUntrustedJson } from '../core/json.ts'
import { TOOL_CALLS_PER_TURN_MAX, TOOLS_AT_ONCE_MAX } from '../core/limits/machine.ts'
import { errorFields, type Logger } from '../core/log.ts'
import { createSemaphore } from '../core/semaphore.ts'
import { type Tool, ToolFailure } from './tool.ts'

export interface ToolResult {
  readonly ok: boolean
  /** Text for the model. */
  readonly content: string
}

/** The tools of one turn. */
export interface ToolBox {
  readonly specs: readonly ToolSpec[]
  /** Never throws: an error is a result with `ok: false`, to which the model can react. */
  run(call: ToolCall, signal: AbortSignal): Promise<ToolResult>
}

/**
 * Runs the calls of one turn. A model can ask for many at once: `TOOLS_AT_ONCE_MAX` run at a time,
 * the event loop goes round before each, and calls beyond `TOOL_CALLS_PER_TURN_MAX` fail.
 */
export function createToolBox(tools: readonly Tool[], tenantId: string, log: Logger): ToolBox {
  const queue = createSemaphore({ slots: TOOLS_AT_ONCE_MAX })
  let count = 0

  async function runTool(call: ToolCall, signal: AbortSignal): Promise<ToolResult> {
    const tool = tools.find(({ spec }) => spec.name === call.name)
    if (!tool) return failed(`There is no tool named ${JSON.stringify(call.name)}.`)
    try {
      const args = parseUntrustedJson(call.arguments || '{}')
      return { ok: true, content: await tool.run(args, { signal, tenantId }) }
    } catch (error) {
      log.debug('tool failed', { tool: call.name, ...errorFields(error) })
      return failed(messageFor(error))
    }
  }

  return {
    specs: tools.map(({ spec }) => spec),

    async run(call, signal) {
      if (++count > TOOL_CALLS_PER_TURN_MAX) return failed('This turn has used all its tool calls.')
      return queue.run('', async () => {
        await nextLoop()
        return runTool(call, signal)
      })
    },
  }
}

/** Resolves when the event loop has gone round once. */
const nextLoop = () => new Promise<void>((resolve) => setImmediate(resolve))

function failed(content: string): ToolResult {
  return { ok: false, content: `Error: ${content}` }
}

function messageFor(error: unknown): string {
  if (error instanceof SyntaxError) return 'The arguments are not valid JSON.'
  return error instanceof ToolFailure ? error.message : 'the tool failed'
}
