import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { talks, type Version } from '../../api/talks.ts'

/** The ways that a talk goes on at one of its turns, and which of them is shown. */
export interface Ways {
  readonly sessions: readonly string[]
  readonly here: number
}

/**
 * The ways at each turn where a talk has more than one, by the number of the turn, in the order in
 * which they began, as the versions are. A version that ends where they part is no way there, and
 * one that another was branched from later stands for both.
 */
export function waysOf(versions: readonly Version[], session: string): ReadonlyMap<number, Ways> {
  const ways = new Map<number, Ways>()
  for (const shared of new Set(versions.flatMap(({ shared_seq }) => shared_seq ?? []))) {
    const there = versions.filter((one) => one.shared_seq === shared && one.next_at)
    // Whether its turn there was copied from an earlier one of these.
    const isCopy = ({ from_seq, next_at }: Version, at: number) =>
      (from_seq ?? 0) > shared && there.findIndex((one) => one.next_at === next_at) < at
    // The turn that is shown has the same place in all versions that share it.
    const first = versions.find(({ shared_seq: own }) => own === null || own > shared)
    const sessions = versions
      .filter((one) => {
        const at = there.indexOf(one)
        return one === first || (at >= 0 && !isCopy(one, at))
      })
      .map((one) => (one === first ? session : one.session_id))
    if (sessions[1]) ways.set(shared + 1, { sessions, here: sessions.indexOf(session) })
  }
  return ways
}

const NONE: readonly Version[] = []

export function useVersions(session: string, isStored: boolean) {
  const query = useQuery({
    queryKey: ['versions', session],
    queryFn: () => talks.versions(session),
    enabled: isStored,
    retry: false,
  })
  const versions = query.data ?? NONE
  return useMemo(() => waysOf(versions, session), [versions, session])
}
