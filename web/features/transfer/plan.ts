import type { ConfigExport, Settings } from '../../api/types.ts'

export type Fate = 'new' | 'skip' | 'overwrite' | 'same'

export interface Planned {
  readonly kind: 'persona' | 'app' | 'settings' | 'mcp_server'
  readonly name: string
  readonly fate: Fate
}

/** A configuration, perhaps with the documents that belong to it. */
export type Carried = ConfigExport & { readonly documents?: readonly unknown[] }

/** The parts of a configuration file that the preview needs; null for other files. */
export function readConfig(text: string): Carried | null {
  try {
    const value = JSON.parse(text) as Partial<Carried> | null
    if (typeof value !== 'object' || value === null || value.format_version !== 1) return null
    const { personas = [], apps = [], mcp_servers = [], documents = [] } = value
    const lists = [personas, apps, mcp_servers, documents]
    return lists.every(Array.isArray)
      ? ({ personas: [], apps: [], mcp_servers: [], ...value } as Carried)
      : null
  } catch {
    return null
  }
}

const equal = (a: unknown, b: unknown) => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b))

/** Compares objects regardless of the order of their keys. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([name, item]) => [name, sorted(item)]))
}

interface Named {
  readonly name: string
}

function fates(
  kind: 'persona' | 'app' | 'mcp_server',
  wanted: readonly Named[],
  held: readonly Named[],
  mode: 'skip' | 'merge',
): Planned[] {
  return wanted
    .filter(({ name }) => typeof name === 'string')
    .map((item) => {
      const there = held.find(({ name }) => name === item.name.trim())
      const clash = mode === 'merge' ? 'overwrite' : 'skip'
      return { kind, name: item.name, fate: !there ? 'new' : equal(there, item) ? 'same' : clash }
    })
}

const isUnset = ({ thinking, mcp_tools: tools, ...numbers }: Settings) => {
  const { model, temperature, price_in = null, price_out = null } = numbers
  const isNull = [model, temperature, price_in, price_out].every((value) => value === null)
  return isNull && !thinking && tools.length === 0
}

/** A preview of importing `wanted` into `held`; the server makes the decision. */
export function plan(wanted: ConfigExport, held: ConfigExport, mode: 'skip' | 'merge'): Planned[] {
  const clash = mode === 'merge' ? 'overwrite' : 'skip'
  // A file may leave out the names of tools.
  const fate = equal(Object.assign({ mcp_tools: [] }, wanted.settings), held.settings)
    ? 'same'
    : isUnset(held.settings)
      ? 'new'
      : clash
  return [
    ...fates('persona', wanted.personas, held.personas, mode),
    ...fates('app', wanted.apps, held.apps, mode),
    ...(wanted.settings ? [{ kind: 'settings', name: '', fate } as const] : []),
    ...fates('mcp_server', wanted.mcp_servers, held.mcp_servers, mode),
  ]
}
