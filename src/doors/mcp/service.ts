import { z } from 'zod'
import { AppError, appError, internalError } from '../../core/errors.ts'
import { checked } from '../../core/fields.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import type { Principal } from '../../core/principal.ts'
import {
  type Caller,
  createTools,
  type ServedTool,
  type ToolAnswer,
  type ToolParts,
} from './tools.ts'

export interface McpServiceOptions extends ToolParts {
  readonly log: Logger
}

/** What a tool call ended with; the text of a failure is a Chinese sentence. */
export interface CallResult extends ToolAnswer {
  readonly isError?: boolean
}

/** A tool as clients list it. */
interface ListedTool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: Record<string, unknown> & { type: 'object' }
  readonly annotations: { readonly readOnlyHint: boolean; readonly openWorldHint: boolean }
}

/** What other programs reach by MCP: the knowledge base, and the agent as one more tool. */
export function createMcpService({ log, ...parts }: McpServiceOptions) {
  const tools = createTools(parts)
  const listed = new Map<ServedTool, ListedTool>()

  /** Made on demand, which keeps it out of the start. */
  function shown(tool: ServedTool): ListedTool {
    const known = listed.get(tool) ?? listedTool(tool)
    listed.set(tool, known)
    return known
  }

  return {
    /** The tools that this kind of key may call. */
    list: ({ kind }: Principal): ListedTool[] =>
      tools.filter(({ kinds }) => kinds.includes(kind)).map(shown),

    /** Null when no tool has this name. Never rejects. */
    async call(name: string, args: unknown, caller: Caller): Promise<CallResult | null> {
      const tool = tools.find((one) => one.name === name)
      if (!tool) return null
      try {
        const { kind } = caller.principal
        if (!tool.kinds.includes(kind)) throw appError('forbidden', { who: kind })
        if (!isObject(args)) throw appError('field_type', { field: 'arguments', kind: 'object' })
        return await tool.run(checked(tool.args, args), caller)
      } catch (error) {
        const known = error instanceof AppError
        if (!known) log.error('mcp tool failed', { tool: name, ...errorFields(error) })
        return { text: (known ? error : internalError(error)).message, isError: true }
      }
    },
  }
}

export type McpService = ReturnType<typeof createMcpService>

const isObject = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function listedTool({ name, title, description, args, isReadOnly }: ServedTool): ListedTool {
  const { $schema: _, ...schema } = z.toJSONSchema(args, { io: 'input' })
  return {
    name,
    title,
    description,
    inputSchema: { ...schema, type: 'object' },
    annotations: { readOnlyHint: isReadOnly, openWorldHint: false },
  }
}
