import { parseUntrustedJson } from '../../core/json.ts'
import type { ToolCall } from '../../upstream/ports/llm.ts'

/** The arguments of a call as an object, whatever the model wrote. */
export function inputOf({ arguments: text }: ToolCall): object {
  try {
    const value = parseUntrustedJson(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
  } catch {
    return {}
  }
}
