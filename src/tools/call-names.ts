import { sha256Hex } from '../core/crypto.ts'
import { TOOL_NAME_CHARS_MAX } from '../core/limits/contract.ts'

/** The characters of a long name that stay, before a mark and eight of its hash. */
const NAME_START = 55
const NAME_HASH = 8

/**
 * The names by which models call the tools of a server. Models take letters, digits, `_` and `-`,
 * and few take more than 64: what is lost by that is told apart by a hash.
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
