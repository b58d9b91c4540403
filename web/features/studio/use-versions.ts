import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { talks, type Version } from '../../api/talks.ts'

/** The ways that a talk goes on at one of its turns, and which of them is shown. */
export interface Ways {
  readonly sessions: readonly string[]
  readonly here: number
}

/** The ways at each turn where a talk has more than one, by the number of the turn. */
export function waysOf(versions: readonly Version[], session: string): ReadonlyMap<number, Ways> {
  const root = versions.find(({ from_seq }) => from_seq === null)?.session_id
  const ways = new Map<number, Ways>()
  for (const from of new Set(versions.flatMap(({ from_seq }) => from_seq ?? []))) {
    const others = versions.filter(({ from_seq }) => from_seq === from)
    const ids = others.map(({ session_id }) => session_id).sort()
    const base = ids.includes(session) ? root : session
    const sessions = [...(base === undefined || ids.includes(base) ? [] : [base]), ...ids]
    const here = sessions.indexOf(session)
    if (sessions.length > 1 && here >= 0) ways.set(from + 1, { sessions, here })
  }
  return ways
}

const NONE: readonly Version[] = []

/** The ways of a stored talk; `mayBranch` is false where the server knows of none. */
export function useVersions(session: string, isStored: boolean) {
  const query = useQuery({
    queryKey: ['versions', session],
    queryFn: () => talks.versions(session),
    enabled: isStored,
    retry: false,
  })
  const versions = query.data ?? NONE
  const ways = useMemo(() => waysOf(versions, session), [versions, session])
  return { ways, mayBranch: versions.length > 0 }
}
