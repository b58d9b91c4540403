import { sha256Hex } from '../core/crypto.ts'
import { parseUntrustedJson } from '../core/json.ts'
import { TOOL_NAME_CHARS_MAX } from '../core/limits/contract.ts'
import { TOOL_CALLS_PER_TURN_MAX, TOOLS_AT_ONCE_MAX } from '../core/limits/machine.ts'
import { errorFields, type Logger } from '../core/log.ts'
import type { Principal } from '../core/principal.ts'
import { createSemaphore, type Semaphore } from '../core/semaphore.ts'
import type { Collections } from '../storage/collections.ts'
import type { ToolCall, ToolSpec } from '../upstream/ports/llm.ts'
import { Declined, NeedsApproval, type Tool, type ToolContext, ToolFailure } from './tool.ts'

/** The part of a turn's configuration that chooses its tools. */
export interface ToolChoice {
  /** Names of the tools that the app allows; null allows all. */
  readonly tools: readonly string[] | null
  /** Whether the turn uses the knowledge base. */
  readonly kb: boolean
  /** Names of the MCP tools that the turn may use: `{server}__{tool}`, or `{server}__*`. */
  readonly mcpTools: readonly string[]
}

/** The built-in tools for one turn. */
export type BuiltInTools = (choice: Pick<ToolChoice, 'tools' | 'kb'>) => readonly Tool[]

/** Gives a feature's tools for one turn of the caller's tenant. */
export type ToolsFor = (principal: Principal, choice: ToolChoice) => Promise<readonly Tool[]>

/**
 * Joins the tools of every turn, which a setting may change, and those of turns that use the
 * knowledge base, in this order. Keeps those that the app's allow-list names; unknown names are
 * ignored. Two tools with the same name are an error of the program.
 */
export function createToolRegistry(
  ofAll: { readonly current: readonly Tool[] },
  ofKb: readonly Tool[],
): BuiltInTools {
  refuseRepeatedNames([...ofAll.current, ...ofKb])
  return ({ tools: allowed, kb }) => {
    const all = kb ? [...ofAll.current, ...ofKb] : ofAll.current
    return allowed === null ? all : all.filter(({ spec }) => allowed.includes(spec.name))
  }
}

function refuseRepeatedNames(tools: readonly Tool[]): void {
  const names = new Set<string>()
  for (const { spec } of tools) {
    if (names.has(spec.name)) throw new Error(`two tools are named ${spec.name}`)
    names.add(spec.name)
  }
}

export interface ToolResult {
  readonly ok: boolean
  /** Text for the model. */
  readonly content: string
  /** It was not called, since nobody could be asked. */
  readonly needsApproval?: true
  /** A person did not allow it. */
  readonly declined?: true
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
export function createToolBox(
  tools: readonly Tool[],
  tenantId: string,
  log: Logger,
  collections: Collections = [],
  { person, approved }: Pick<ToolContext, 'person' | 'approved'> = {},
): ToolBox {
  // Most turns call no tool.
  let queue: Semaphore | null = null
  let count = 0

  async function runTool(call: ToolCall, signal: AbortSignal): Promise<ToolResult> {
    const tool = tools.find(({ spec }) => spec.name === call.name)
    if (!tool) {
      const shown = JSON.stringify(call.name.slice(0, TOOL_NAME_CHARS_MAX))
      return failed(`There is no tool named ${shown}.`)
    }
    try {
      const args = parseUntrustedJson(call.arguments || '{}')
      const context = {
        signal,
        tenantId,
        collections,
        ...(person && { person }),
        ...(approved && { approved }),
      }
      return { ok: true, content: await tool.run(args, context) }
    } catch (error) {
      log.debug('tool failed', { tool: call.name, ...errorFields(error) })
      const result = failed(messageFor(error))
      if (error instanceof Declined) return { ...result, declined: true }
      return error instanceof NeedsApproval ? { ...result, needsApproval: true } : result
    }
  }

  return {
    specs: tools.map(({ spec }) => spec),

    async run(call, signal) {
      if (++count > TOOL_CALLS_PER_TURN_MAX) return failed('This turn has used all its tool calls.')
      queue ??= createSemaphore({ slots: TOOLS_AT_ONCE_MAX })
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

/** Characters of a long name that are kept, before a separator and eight characters of its hash. */
const NAME_START = 55
const NAME_HASH = 8

/**
 * The names by which models call the tools of a server. Models accept letters, digits, `_` and `-`,
 * and few accept more than 64 characters. A hash keeps changed names distinct.
 */
export function callNames(server: string, names: readonly string[]): string[] {
  const whole = names.map((name) => `${server}__${name}`)
  const cleaned = whole.map((name) => name.replace(/[^A-Za-z0-9_-]/g, '_'))
  return cleaned.map((name, i) => {
    const isTaken = cleaned.some((other, j) => j !== i && other === name)
    if (name.length <= TOOL_NAME_CHARS_MAX && !isTaken) return name
    return `${name.slice(0, NAME_START)}_${sha256Hex(whole[i] ?? '').slice(0, NAME_HASH)}`
  })
}
