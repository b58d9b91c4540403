import type { ConfigExport } from '../../api/types.ts'

/** The lists of a configuration, by the kind of their items. */
const LISTS = {
  persona: 'personas',
  app: 'apps',
  mcp_server: 'mcp_servers',
  collection: 'collections',
  prompt: 'prompts',
  schedule: 'schedules',
  webhook: 'webhooks',
} as const

export type Fate = 'new' | 'skip' | 'overwrite' | 'same'

export interface Planned {
  readonly kind: 'settings' | keyof typeof LISTS
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
    const names = [...Object.values(LISTS), 'documents'] as const
    return names.every((name) => Array.isArray(value[name] ?? []))
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
  kind: keyof typeof LISTS,
  wanted: readonly Named[] = [],
  held: readonly Named[] = [],
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

const isUnset = ({
  thinking,
  mcp_tools: tools,
  ocr,
  ocr_model,
  ...numbers
}: ConfigExport['settings']) => {
  const { model, temperature, price_in = null, price_out = null } = numbers
  const texts = [model, temperature, price_in, price_out, ocr_model]
  return texts.every((value) => value === null) && !thinking && tools.length === 0 && ocr === 'off'
}

/** A preview of importing `wanted` into `held`; the server makes the decision. */
export function plan(wanted: ConfigExport, held: ConfigExport, mode: 'skip' | 'merge'): Planned[] {
  const clash = mode === 'merge' ? 'overwrite' : 'skip'
  // A file may leave out the names of tools, and an older one what is newer.
  const absent = { mcp_tools: [], ocr: 'off', ocr_model: null }
  const fate = equal(Object.assign(absent, wanted.settings), held.settings)
    ? 'same'
    : isUnset(held.settings)
      ? 'new'
      : clash
  return [
    ...fates('persona', wanted.personas, held.personas, mode),
    ...fates('app', wanted.apps, held.apps, mode),
    ...(wanted.settings ? [{ kind: 'settings', name: '', fate } as const] : []),
    ...(['mcp_server', 'collection', 'prompt', 'schedule', 'webhook'] as const).flatMap((kind) =>
      fates(kind, wanted[LISTS[kind]], held[LISTS[kind]], mode),
    ),
  ]
}
