import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { talks, type Version } from '../../api/talks.ts'
import type { TranscriptTurn } from '../../api/types.ts'

/** The ways that a talk goes on at one of its turns, and which of them is shown. */
export interface Ways {
  readonly sessions: readonly string[]
  readonly here: number
}

/**
 * The ways at each turn where a talk has more than one, by the number of the turn, in the order in
 * which they began, as the versions are. `storedAt` has the times of the turns that are known. The
 * talk that two were compared from has none of its own after the branch, so it is no way there.
 */
export function waysOf(
  versions: readonly Version[],
  session: string,
  storedAt: ReadonlyMap<number, string> = new Map(),
): ReadonlyMap<number, Ways> {
  // Where the first one was deleted, the one that left it last has most of its turns.
  const root =
    versions.find(({ from_seq }) => from_seq === null) ??
    versions.toSorted((a, b) => (b.from_seq ?? 0) - (a.from_seq ?? 0))[0]
  const rootGoesOn = (from: number) => {
    const at = storedAt.get(from)
    return root !== undefined && (at === undefined || root.last_at > at)
  }
  const ways = new Map<number, Ways>()
  for (const from of new Set(versions.flatMap(({ from_seq }) => from_seq ?? []))) {
    const others = versions.filter(({ from_seq }) => from_seq === from)
    const ids = others.map(({ session_id }) => session_id)
    const base = ids.includes(session) ? (rootGoesOn(from) ? root?.session_id : undefined) : session
    const sessions = [...(base === undefined || ids.includes(base) ? [] : [base]), ...ids]
    const here = sessions.indexOf(session)
    if (sessions.length > 1 && here >= 0) ways.set(from + 1, { sessions, here })
  }
  return ways
}

const NONE: readonly Version[] = []

/** The ways of a stored talk. */
export function useVersions(session: string, rows: readonly TranscriptTurn[]) {
  const query = useQuery({
    queryKey: ['versions', session],
    queryFn: () => talks.versions(session),
    enabled: rows.length > 0,
    retry: false,
  })
  const versions = query.data ?? NONE
  return useMemo(() => {
    const storedAt = new Map(rows.map(({ seq, created_at }) => [seq, created_at]))
    return waysOf(versions, session, storedAt)
  }, [versions, session, rows])
}
