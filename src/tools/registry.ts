import type { Principal } from '../core/principal.ts'
import type { Tool } from './tool.ts'

/** What the configuration of a turn says about its tools. */
export interface ToolChoice {
  /** Names of the tools that the app allows; null allows all. */
  readonly tools: readonly string[] | null
  /** Whether the turn uses the knowledge base. */
  readonly kb: boolean
}

/** The tools of one turn. A feature adds its own by such a function. */
export type ToolsFor = (principal: Principal, choice: ToolChoice) => Promise<readonly Tool[]>

/**
 * Joins the built-in tools and those of the providers, always in this order, and keeps the ones
 * that the app's allow-list names; names that no tool has are ignored. Two tools of one name are an
 * error of the program: at start among the built-in ones, else of the turn.
 */
export function createToolRegistry(
  builtIn: readonly Tool[],
  providers: readonly ToolsFor[] = [],
): ToolsFor {
  refuseRepeatedNames(builtIn)
  return async (principal, choice) => {
    const added = await Promise.all(providers.map((toolsFor) => toolsFor(principal, choice)))
    const all = [...builtIn, ...added.flat()]
    refuseRepeatedNames(all)
    const { tools: allowed } = choice
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
