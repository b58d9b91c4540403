import type { Talk } from '../../api/talks.ts'

/** Where a talk stands in the side bar. */
export type GroupName =
  | { readonly kind: 'pinned' | 'today' | 'yesterday' | 'week' | 'archived' }
  | { readonly kind: 'folder'; readonly name: string }
  | { readonly kind: 'month'; readonly at: number }

export interface TalkGroup {
  readonly key: string
  readonly name: GroupName
  readonly talks: readonly Talk[]
}

const DAY_MS = 86_400_000
const WEEK_DAYS = 7

function groupOf({ pinned, folder, archived, last_at }: Talk, midnight: number): GroupName {
  if (archived) return { kind: 'archived' }
  if (pinned) return { kind: 'pinned' }
  if (folder) return { kind: 'folder', name: folder }
  const at = Date.parse(last_at)
  if (at >= midnight) return { kind: 'today' }
  if (at >= midnight - DAY_MS) return { kind: 'yesterday' }
  if (at >= midnight - WEEK_DAYS * DAY_MS) return { kind: 'week' }
  const day = new Date(at)
  return { kind: 'month', at: new Date(day.getFullYear(), day.getMonth()).getTime() }
}

const keyOf = (name: GroupName): string =>
  name.kind === 'folder' ? `folder ${name.name}` : `${name.kind}${'at' in name ? name.at : ''}`

/** When the day of this time began. */
export const midnightOf = (at: number): number => new Date(at).setHours(0, 0, 0, 0)

/**
 * Pinned talks, then folders, then the others by day, with the beginning of the present one; each
 * keeps its order.
 */
export function grouped(talks: readonly Talk[], midnight: number): TalkGroup[] {
  const groups = new Map<string, { name: GroupName; talks: Talk[] }>()
  for (const talk of talks) {
    const name = groupOf(talk, midnight)
    const group = groups.get(keyOf(name))
    if (group) group.talks.push(talk)
    else groups.set(keyOf(name), { name, talks: [talk] })
  }
  const rank = ({ kind }: GroupName) =>
    ({ pinned: 0, folder: 1, archived: 3 })[kind as 'pinned'] ?? 2
  return [...groups]
    .map(([key, group]) => ({ key, name: group.name, talks: group.talks }))
    .sort((a, b) => rank(a.name) - rank(b.name))
}
