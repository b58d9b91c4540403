import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { api } from '../../api/index.ts'
import { type Talk, talks } from '../../api/talks.ts'
import { useAction } from '../../lib/services.tsx'
import { useSettled } from '../../lib/use-settled.ts'
import { useStable } from '../../lib/use-stable.ts'
import { useConversations } from './conversations.ts'

const UNDO_MS = 6_000

/** Whose talks: the person's own, or those that nobody owns, by the way they came. */
export const KINDS = ['mine', 'website', 'devices', 'api'] as const
export type Kind = (typeof KINDS)[number]

/** The conversations that match, newest first, and what can be done with one. */
export function useRail(typed: string, kind: Kind, archived: boolean) {
  const q = useSettled(typed.trim())
  const query = useInfiniteQuery({
    queryKey: ['conversations', kind, archived, q],
    queryFn: ({ pageParam }) =>
      api.conversations.list({
        q,
        before: pageParam,
        of: kind,
        archived: archived ? 'true' : '',
      }),
    initialPageParam: '',
    getNextPageParam: ({ next_before }) => next_before,
    placeholderData: (before) => before,
  })
  const { tellStored } = useConversations()
  const refresh = ['conversations'] as const
  // The other tabs show it, too.
  const onDone = (_: unknown, { id }: { id: string }) => void tellStored(id)
  const rename = useAction(
    ({ id, title }: { id: string; title: string }) => api.conversations.rename(id, title),
    { refresh, onDone, several: true },
  )
  const change = useAction(
    ({ id, ...input }: { id: string } & Parameters<typeof talks.change>[1]) =>
      talks.change(id, input),
    { refresh, onDone, several: true },
  )
  return { query, rename, change, ...useRemoval() }
}

/** Deletes after a delay in which it can be undone; leaving page or tab does not undo it. */
function useRemoval() {
  const { forget, tellStored } = useConversations()
  const [going, setGoing] = useState<readonly string[]>([])
  const timers = useRef(new Map<string, ReturnType<typeof setTimeout>>())
  const settle = (id: string) => {
    clearTimeout(timers.current.get(id))
    timers.current.delete(id)
    setGoing((list) => list.filter((item) => item !== id))
  }
  const removeNow = async (id: string) => {
    await api.sessions.remove(id)
    forget(id)
    await tellStored(id)
  }
  const action = useAction(removeNow, { onDone: (_, id) => settle(id) })
  const removeLater = useStable((id: string) =>
    // A refusal leaves the row as it was.
    action.mutateAsync(id).catch(() => settle(id)),
  )
  useEffect(() => {
    const { current } = timers
    const removeAll = () => {
      for (const [id, timer] of current) {
        clearTimeout(timer)
        void removeLater(id)
      }
      current.clear()
    }
    addEventListener('pagehide', removeAll)
    return () => {
      removeEventListener('pagehide', removeAll)
      removeAll()
    }
  }, [removeLater])
  return {
    going,
    undo: settle,
    remove(id: string) {
      setGoing((list) => [...list, id])
      timers.current.set(
        id,
        setTimeout(() => void removeLater(id), UNDO_MS),
      )
    },
  }
}

/** The folders of these talks, by name. */
export const foldersOf = (list: readonly Talk[]): string[] =>
  [...new Set(list.flatMap(({ folder }) => folder ?? []))].sort()
