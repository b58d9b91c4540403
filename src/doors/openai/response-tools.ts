import { z } from 'zod'
import { parseUntrustedJson } from '../../core/json.ts'
import { CLIENT_TOOLS_MAX, COLLECTIONS_MAX } from '../../core/limits/contract.ts'
import { callNames } from '../../tools/tool-box.ts'
import type { ToolCall, ToolSpec } from '../../upstream/ports/llm.ts'
import { list, name, oneOf, schemaObject, text, unsupportedValue } from '../shared/fields.ts'
import { type Choice, choiceMode, functionFields, specOf, toolName } from '../shared/tools.ts'

/** The tools of POST /v1/responses. Models know functions alone, so each tool becomes some. */

const FunctionTool = z.object({ type: z.literal('function'), ...functionFields })

/** Its input is a text, maybe of a grammar. */
const CustomTool = z.object({
  type: z.literal('custom'),
  name: toolName,
  description: text().nullish(),
  format: z
    .object({ type: name(), syntax: name().nullish(), definition: text().nullish() })
    .nullish(),
})

/** Tools of MCP servers have names that models do not take; `nameForModel` changes them. */
const InnerFunction = FunctionTool.extend({ name: name() })
const InnerCustom = CustomTool.extend({ name: name() })

const NamespaceTool = z.lazy(() =>
  z.object({
    type: z.literal('namespace'),
    name: name(),
    description: text().nullish(),
    tools: list(
      z.discriminatedUnion('type', [InnerFunction, InnerCustom], oneOf('type')),
      CLIENT_TOOLS_MAX,
    ),
  }),
)

/** Finds further tools of the client, which runs the search itself. */
const SearchTool = z.lazy(() =>
  z.object({
    type: z.literal('tool_search'),
    execution: name().nullish(),
    description: text().nullish(),
    parameters: schemaObject('object').nullish(),
  }),
)

/** Stands for all documents that the caller sees; other ids are those of collections. */
const EVERYTHING = 'kb'

const FileSearchTool = z.lazy(() =>
  z.object({
    type: z.literal('file_search'),
    vector_store_ids: z
      .array(z.string().min(1))
      .max(COLLECTIONS_MAX + 1)
      .refine(
        (ids) => ids.length > 0 && (ids.length === 1 || !ids.includes(EVERYTHING)),
        unsupportedValue('vector_store_ids'),
      ),
  }),
)

/** The collections that the tools of a request search; null: all documents that are seen. */
export function searchedIn(tools: readonly Tool[]): readonly string[] | null {
  const ids = tools.flatMap((tool) => (tool.type === 'file_search' ? tool.vector_store_ids : []))
  return ids.length === 0 || ids.includes(EVERYTHING) ? null : [...new Set(ids)]
}

/** Tools that OpenAI runs itself, or that its models alone were taught. They are left out. */
const HOSTED = [
  'web_search',
  'web_search_2025_08_26',
  'web_search_preview',
  'web_search_preview_2025_03_11',
  'image_generation',
  'code_interpreter',
  'local_shell',
  'shell',
  'apply_patch',
  'computer',
  'computer_use',
  'computer_use_preview',
  'mcp',
  'programmatic_tool_calling',
] as const

const kinds = [FunctionTool, CustomTool, NamespaceTool, SearchTool, FileSearchTool] as const
export const Tool = z.lazy(() =>
  z.discriminatedUnion('type', [...kinds, z.object({ type: z.enum(HOSTED) })], oneOf('type')),
)
export type Tool = z.output<typeof Tool>

export const isHosted = (tool: Tool): boolean =>
  (HOSTED as readonly string[]).includes(tool.type) || isRunByServer(tool)

const isRunByServer = (tool: Tool): boolean =>
  tool.type === 'tool_search' && tool.execution !== 'client'

const Chosen = z.lazy(() =>
  z.object({ type: name(), name: name().optional(), namespace: name().optional() }),
)

export const ToolChoice = z.lazy(() =>
  z.union([
    z.enum(['auto', 'none', 'required']),
    z.object({
      type: z.literal('allowed_tools'),
      mode: choiceMode,
      tools: list(Chosen, CLIENT_TOOLS_MAX),
    }),
    z.object({ type: z.enum(['function', 'custom']), name: name(), namespace: name().optional() }),
    z.object({ type: z.enum([...HOSTED, 'file_search', 'tool_search']) }),
  ]),
)

/** A hosted tool cannot be called, so a choice of one leaves the model free. */
export function choiceOf(choice: z.output<typeof ToolChoice>): Choice {
  if (typeof choice === 'string') return choice
  if ('mode' in choice) {
    const named = choice.tools.flatMap((tool) => (tool.name ? [{ ...tool, name: tool.name }] : []))
    return { mode: choice.mode, names: named.map(nameForModel) }
  }
  return 'name' in choice ? { name: nameForModel(choice) } : 'auto'
}

interface NamedTool {
  readonly name: string
  readonly namespace?: string | null | undefined
}

/** The name by which the model calls a tool. */
export function nameForModel({ name: own, namespace }: NamedTool): string {
  return namespace ? (callNames(namespace, [own])[0] ?? own) : own
}

export const SEARCH_NAME = 'tool_search'

/** A tool that the model is offered, and what its calls are for the client. */
export interface ClientTool extends NamedTool {
  readonly kind: 'function' | 'custom' | 'tool_search'
  readonly spec: ToolSpec
}

/** The functions that a tool becomes. */
export function clientToolsOf(tool: Tool): readonly ClientTool[] {
  switch (tool.type) {
    case 'function':
    case 'custom':
      return [clientTool(tool)]
    case 'namespace':
      return tool.tools.map((inner) => clientTool(inner, tool.name))
    case 'tool_search': {
      if (isRunByServer(tool)) return []
      const spec = specOf({ ...tool, name: SEARCH_NAME })
      return [{ kind: 'tool_search', name: SEARCH_NAME, spec }]
    }
    default:
      return []
  }
}

function clientTool(
  tool: z.output<typeof FunctionTool | typeof CustomTool>,
  namespace?: string,
): ClientTool {
  const called = { name: nameForModel({ name: tool.name, namespace }) }
  const spec =
    tool.type === 'function'
      ? specOf({ ...tool, ...called })
      : { ...called, description: describedInput(tool), parameters: INPUT }
  return { kind: tool.type, name: tool.name, namespace, spec }
}

/** The arguments of a custom tool. */
const INPUT = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool.' } },
  required: ['input'],
  additionalProperties: false,
}

function describedInput({ description, format }: z.output<typeof CustomTool>): string {
  const parts = [description ?? '']
  if (format?.definition) {
    const grammar = `${format.syntax ?? ''} grammar`.trim()
    parts.push(`The text of "input" follows this ${grammar}:\n${format.definition}`)
  }
  return parts.filter(Boolean).join('\n\n')
}

export const argumentsOf = (input: string): string => JSON.stringify({ input })

/** The input in a model's call of a custom tool; models that were taught the tool write it bare. */
export function inputOf({ arguments: given }: ToolCall): string {
  const { input } = objectOf(given)
  return typeof input === 'string' ? input : given
}

/** The arguments as an object; empty when they are none. */
export function objectOf(json: string): Readonly<Record<string, unknown>> {
  try {
    const value = parseUntrustedJson(json)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Readonly<Record<string, unknown>>) : {}
  } catch {
    return {}
  }
}
