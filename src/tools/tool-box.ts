import type { ToolCall, ToolSpec } from '../channels/ports/llm.ts'
import { parseJson } from '../core/json.ts'
import { TOOL_CALLS_PER_TURN_MAX, TOOLS_AT_ONCE_MAX } from '../core/limits/machine.ts'
import { errorFields, type Logger } from '../core/log.ts'
import { createSemaphore } from '../core/semaphore.ts'
import { type Tool, ToolFailure } from './tool.ts'

export interface ToolResult {
  readonly ok: boolean
  /** What the model reads. */
  readonly content: string
}

/** The tools one turn may use. */
export interface ToolBox {
  readonly specs: readonly ToolSpec[]
  /** Never throws: what goes wrong is a result with `ok: false` that the model can react to. */
  run(call: ToolCall, signal: AbortSignal): Promise<ToolResult>
}

/**
 * `tools` are those that the turn may use, bound to its tenant. A model can ask for many at once:
 * few of them run at a time, other requests get their turn before each, and a turn has only so
 * many.
 */
export function createToolBox(tools: readonly Tool[], tenantId: string, log: Logger): ToolBox {
  const inLine = createSemaphore({ perKey: TOOLS_AT_ONCE_MAX }).run
  let asked = 0

  return {
    specs: tools.map(({ spec }) => spec),

    async run(call, signal) {
      if (++asked > TOOL_CALLS_PER_TURN_MAX) return failed('This turn has used all its tool calls.')
      return inLine('', async () => {
        await otherRequests()
        return perform(call, signal)
      })
    },
  }

  async function perform(call: ToolCall, signal: AbortSignal): Promise<ToolResult> {
    const tool = tools.find(({ spec }) => spec.name === call.name)
    if (!tool) return failed(`There is no tool named ${JSON.stringify(call.name)}.`)
    try {
      const args = parseJson(call.arguments || '{}')
      return { ok: true, content: await tool.run(args, { signal, tenantId }) }
    } catch (error) {
      log.debug('tool failed', { tool: call.name, ...errorFields(error) })
      return failed(
        error instanceof SyntaxError ? 'The arguments are not valid JSON.' : told(error),
      )
    }
  }
}

/** Resolves when the event loop has gone round once. */
const otherRequests = () => new Promise<void>((resolve) => setImmediate(resolve))

function failed(content: string): ToolResult {
  return { ok: false, content: `Error: ${content}` }
}

function told(error: unknown): string {
  return error instanceof ToolFailure ? error.message : 'the tool failed'
}
