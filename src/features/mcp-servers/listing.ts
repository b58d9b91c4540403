import { sha256Hex } from '../../core/crypto.ts'
import {
  MCP_DESCRIPTION_CHARS_MAX,
  MCP_TITLE_CHARS_MAX,
  MCP_TOOL_NAME_CHARS_MAX,
  MCP_TOOLS_KEPT_MAX,
} from '../../core/limits/contract.ts'
import { MCP_DEFINITION_CHARS_MAX } from '../../core/limits/machine.ts'
import { firstChars } from '../../core/text.ts'
import { timeSlice } from '../../core/time-slice.ts'
import { declaredHeaders, type ParamHeader } from './param-headers.ts'
import { convertSchema, isNode, type UnusableReason } from './schema.ts'

/** A tool of a server as it is stored. */
export interface KeptTool {
  readonly name: string
  readonly title: string | null
  readonly description: string
  readonly readOnly: boolean
  readonly destructive: boolean
  /** JSON for the model; empty for an unusable tool. */
  readonly schema: string
  readonly paramHeaders: readonly ParamHeader[]
  /** Why the tool cannot be offered; null when it can. */
  readonly reason: UnusableReason | null
  /** SHA-256 of name, title, description, schema and what the server says that it may change. */
  readonly hash: string
  /** The same without a title, as it is stored of tools that were listed before it was part. */
  readonly untitledHash: string
}

/**
 * Reads a server's listing tool by tool: a malformed tool is unusable, the others are not affected.
 * Other work runs in between.
 */
export async function readListing(
  listed: readonly unknown[],
  steady: () => number,
): Promise<KeptTool[]> {
  const slice = timeSlice(steady)
  const tools: KeptTool[] = []
  const names = new Set<string>()
  for (const [index, raw] of listed.slice(0, MCP_TOOLS_KEPT_MAX).entries()) {
    const tool = readTool(raw, index)
    const isRepeated = names.has(tool.name)
    names.add(tool.name)
    tools.push(isRepeated ? unusable(tool, `${tool.name}#${index + 1}`, 'duplicate') : tool)
    if (slice.isOver()) await slice.next()
  }
  return tools
}

const unusable = (tool: KeptTool, name: string, reason: UnusableReason): KeptTool => ({
  ...tool,
  name,
  reason,
  schema: '',
  paramHeaders: [],
})

function readTool(raw: unknown, index: number): KeptTool {
  const { name, title, description, inputSchema, annotations } = isNode(raw) ? raw : {}
  const hints = isNode(annotations) ? annotations : {}
  const readOnly = hints.readOnlyHint === true
  const about = typeof description === 'string' ? description.toWellFormed() : ''
  const destructive = typeof hints.destructiveHint === 'boolean' ? hints.destructiveHint : !readOnly
  const definition = [name, description, inputSchema]
  const written = JSON.stringify(definition)
  // A tool that long is not offered in any case, so its schema is not processed.
  const isLong = written.length > MCP_DEFINITION_CHARS_MAX
  const text = isLong ? written : canonical(definition)
  const shownTitle = textOf(title) ?? textOf(hints.title)
  const untitled = `${readOnly} ${destructive} ${text}`
  const tool: KeptTool = {
    name: typeof name === 'string' ? firstChars(name.toWellFormed(), MCP_TOOL_NAME_CHARS_MAX) : '',
    title: shownTitle,
    description: firstChars(about, MCP_DESCRIPTION_CHARS_MAX),
    readOnly,
    destructive,
    schema: '',
    paramHeaders: [],
    reason: null,
    hash: sha256Hex(shownTitle === null ? untitled : `${untitled} ${JSON.stringify(shownTitle)}`),
    untitledHash: sha256Hex(untitled),
  }
  if (tool.name === '' || tool.name !== name) return unusable(tool, `#${index + 1}`, 'malformed')
  if (isLong) return unusable(tool, name, 'too_large')
  const converted = convertSchema(inputSchema)
  if ('unusable' in converted) return unusable(tool, name, converted.unusable)
  const paramHeaders = declaredHeaders(inputSchema)
  if (paramHeaders === null) return unusable(tool, name, 'header')
  return { ...tool, paramHeaders, schema: JSON.stringify(converted.schema) }
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== ''
    ? firstChars(value.trim().toWellFormed(), MCP_TITLE_CHARS_MAX)
    : null

/** JSON with sorted members, so that another order does not count as a change. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) =>
    isNode(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  )
