import type { Tool } from './tool.ts'

export type ToolRegistry = ReturnType<typeof createToolRegistry>

/** The built-in tools in a fixed order, so that the same turn always offers the same list. */
export function createToolRegistry(tools: readonly Tool[]) {
  const names = tools.map((tool) => tool.spec.name)
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) throw new Error(`two tools are named ${repeated}`)
  return {
    /** The tools an app's `tools_enabled` names; null allows all. Unknown names are ignored. */
    select: (allow: readonly string[] | null): readonly Tool[] =>
      allow === null ? tools : tools.filter((tool) => allow.includes(tool.spec.name)),
  }
}
