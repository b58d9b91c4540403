/**
 * Arguments of a call that are repeated in headers (revision 2026-07-28, "Custom Headers from Tool
 * Parameters"), so that a proxy before the server can route by them.
 */

/** A repeated argument: its path below the arguments, and the name of its header. */
export interface ParamHeader {
  readonly path: readonly string[]
  readonly header: string
}

const KEY = 'x-mcp-header'
/** A token of RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,64}$/
const TYPES = ['string', 'integer', 'boolean']

/** The headers that a schema declares; null when a declaration breaks the rules. */
export function declaredHeaders(schema: unknown): readonly ParamHeader[] | null {
  const found: ParamHeader[] = []

  /** False when a rule is broken. Declarations are valid only below a chain of `properties`. */
  function visit(node: unknown, path: readonly string[] | null): boolean {
    if (typeof node !== 'object' || node === null) return true
    if (Array.isArray(node)) return node.every((item) => visit(item, null))
    const { properties, ...rest } = node as Record<string, unknown>
    if (Object.hasOwn(rest, KEY) && !declare(rest, path)) return false
    const below = Object.entries((properties ?? {}) as object)
    return (
      below.every(([name, child]) => visit(child, path && [...path, name])) &&
      Object.values(rest).every((child) => visit(child, null))
    )
  }

  function declare(
    { [KEY]: header, type }: Record<string, unknown>,
    path: readonly string[] | null,
  ) {
    if (path === null || path.length === 0) return false
    if (typeof header !== 'string' || !TOKEN.test(header)) return false
    if (!TYPES.includes(String(type))) return false
    if (found.some((one) => one.header.toLowerCase() === header.toLowerCase())) return false
    found.push({ path, header })
    return true
  }

  return visit(schema, []) ? found : null
}

/** The header values for these arguments, by header name. */
export function paramValues(
  declared: readonly ParamHeader[],
  args: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const values: Record<string, string> = {}
  for (const { path, header } of declared) {
    const value = path.reduce<unknown>(ownValue, args)
    if (['string', 'number', 'boolean'].includes(typeof value)) values[header] = String(value)
  }
  return values
}

const ownValue = (node: unknown, name: string): unknown =>
  typeof node === 'object' && node !== null && Object.hasOwn(node, name)
    ? (node as Record<string, unknown>)[name]
    : undefined
