import { MCP_SCHEMA_BYTES_MAX, MCP_SCHEMA_DEPTH_MAX } from '../../core/limits/contract.ts'

/** A tool's schema for models, or why there is none. */
export type ConvertedSchema = { readonly schema: object } | { readonly unusable: UnusableReason }

export type UnusableReason =
  | 'malformed'
  | 'no_object'
  | 'remote_ref'
  | 'dangling_ref'
  | 'recursive'
  | 'too_deep'
  | 'too_large'
  | 'header'
  | 'duplicate'

class Unusable extends Error {
  constructor(readonly reason: UnusableReason) {
    super(reason)
  }
}

/** Keywords whose values are data and not schemas. */
const DATA = new Set(['const', 'enum', 'default', 'examples'])
/** Keywords whose members are schemas under arbitrary names. */
const NAMED = new Set(['properties', 'patternProperties', 'dependentSchemas'])
/** Dropped keywords: definitions are inlined, and models do not use identifiers and headers. */
const DROPPED = new Set(['$schema', '$id', '$anchor', '$defs', 'definitions', 'x-mcp-header'])
const DYNAMIC = ['$dynamicRef', '$recursiveRef']

type Node = Readonly<Record<string, unknown>>

/**
 * Inlines the definitions that a schema refers to, because many models, and the channels before
 * them, do not support references. The work is bounded by the size of the result.
 */
export function convertSchema(given: unknown): ConvertedSchema {
  const root = given ?? {}
  if (!isNode(root)) return { unusable: 'malformed' }
  let bytes = 0

  function count(text: string): void {
    bytes += text.length
    if (bytes > MCP_SCHEMA_BYTES_MAX) throw new Unusable('too_large')
  }

  /** `refs` are the references that led here, outermost first. */
  function convert(value: unknown, refs: readonly string[]): unknown {
    if (Array.isArray(value)) {
      count('[]')
      return value.map((item) => convert(item, refs))
    }
    if (!isNode(value)) {
      count(JSON.stringify(value))
      return value
    }
    const { $ref: ref, ...own } = value
    if (DYNAMIC.some((name) => Object.hasOwn(own, name))) throw new Unusable('remote_ref')
    const members = (node: Node) => {
      count('{}')
      return Object.entries(node).flatMap(([name, child]) => member(name, child, refs))
    }
    if (ref === undefined) return Object.fromEntries(members(own))
    const target = resolve(ref, refs)
    // Keywords beside a reference apply as well (JSON Schema 2020-12, core, 8.2.3.1).
    return isNode(target)
      ? Object.fromEntries([...Object.entries(target), ...members(own)])
      : target
  }

  function member(name: string, child: unknown, refs: readonly string[]): [string, unknown][] {
    if (DROPPED.has(name)) return []
    count(`"${name}":,`)
    if (DATA.has(name)) {
      count(JSON.stringify(child))
      return [[name, child]]
    }
    if (!NAMED.has(name) || !isNode(child)) return [[name, convert(child, refs)]]
    const named = Object.entries(child).map(([key, schema]): [string, unknown] => {
      count(`"${key}":,`)
      return [key, convert(schema, refs)]
    })
    return [[name, Object.fromEntries(named)]]
  }

  function resolve(ref: unknown, refs: readonly string[]): unknown {
    if (typeof ref !== 'string' || !ref.startsWith('#')) throw new Unusable('remote_ref')
    if (refs.includes(ref) || ref === '#') throw new Unusable('recursive')
    if (refs.length >= MCP_SCHEMA_DEPTH_MAX) throw new Unusable('too_deep')
    return convert(pointedAt(root, ref), [...refs, ref])
  }

  try {
    const schema = convert(root, []) as Record<string, unknown>
    if (schema.type !== undefined && schema.type !== 'object') return { unusable: 'no_object' }
    const whole = { ...schema, type: 'object' }
    const isTooLarge = Buffer.byteLength(JSON.stringify(whole)) > MCP_SCHEMA_BYTES_MAX
    return isTooLarge ? { unusable: 'too_large' } : { schema: whole }
  } catch (error) {
    if (error instanceof Unusable) return { unusable: error.reason }
    throw error
  }
}

/** The value that a JSON pointer (RFC 6901) in a fragment refers to. */
function pointedAt(root: unknown, ref: string): unknown {
  let node = root
  for (const part of ref.slice(1).split('/').slice(1)) {
    const name = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, name)) {
      throw new Unusable('dangling_ref')
    }
    node = (node as Node)[name]
  }
  // An anchor (`#name`) has no slash. Anchors are rare and not supported.
  if (!ref.startsWith('#/')) throw new Unusable('dangling_ref')
  return node
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Unusable('dangling_ref')
  }
}

export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
