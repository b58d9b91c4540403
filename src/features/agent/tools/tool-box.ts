import type { ToolCall, ToolSpec } from '../../../channels/llm.ts'
import { errorFields, type Logger } from '../../../core/log.ts'
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

/** `tools` are those that the turn may use, bound to its tenant. */
export function createToolBox(tools: readonly Tool[], tenantId: string, log: Logger): ToolBox {
  return {
    specs: tools.map(({ spec }) => spec),

    async run(call, signal) {
      const tool = tools.find(({ spec }) => spec.name === call.name)
      if (!tool) return failed(`There is no tool named ${JSON.stringify(call.name)}.`)
      try {
        const args: unknown = JSON.parse(call.arguments || '{}')
        return { ok: true, content: await tool.run(args, { signal, tenantId }) }
      } catch (error) {
        log.debug('tool failed', { tool: call.name, ...errorFields(error) })
        return failed(
          error instanceof SyntaxError ? 'The arguments are not valid JSON.' : told(error),
        )
      }
    },
  }
}

function failed(content: string): ToolResult {
  return { ok: false, content: `Error: ${content}` }
}

function told(error: unknown): string {
  return error instanceof ToolFailure ? error.message : 'the tool failed'
}
