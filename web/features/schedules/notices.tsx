import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useSyncExternalStore } from 'react'
import { schedules } from '../../api/schedules.ts'
import { noticeRight, tellBeside } from '../../lib/browser-notice.ts'
import { useToasts } from '../../lib/services.tsx'

const POLL_MS = 30_000
const SHOWN_CHARS = 200
/** More wait until somebody has closed one. */
const SHOWN_MAX = 3
/** Marks of Markdown, and numbers of sources: a toast has plain words. */
const MARKS = /^[|:\s-]+$|^#+ |\*\*|`|\||\[\d+\]/gm

function onVisible(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener)
  return () => document.removeEventListener('visibilitychange', listener)
}

/**
 * Tells results of schedules and reminders, as messages that stay and as notifications of the
 * browser. One that nobody could see yet is not told yet, so that it is not taken for read.
 */
export function Notices() {
  const toasts = useToasts()
  const told = useRef(new Set<string>())
  /** Of which the server does not know yet that they were told. */
  const unheard = useRef(new Set<string>())
  const isVisible = useSyncExternalStore(onVisible, () => document.visibilityState === 'visible')
  const shown = useSyncExternalStore(toasts.subscribe, toasts.read).filter(({ stays }) => stays)
  const room = isVisible || noticeRight() === 'granted' ? SHOWN_MAX - shown.length : 0
  const query = useQuery({
    queryKey: ['notices'],
    queryFn: async () => {
      const notices = await schedules.notices()
      for (const { id } of notices) {
        if (unheard.current.has(id)) markRead(id, unheard.current)
      }
      return notices
    },
    refetchInterval: POLL_MS,
    refetchIntervalInBackground: true,
    meta: { quiet: true },
  })
  useEffect(() => {
    const fresh = (query.data ?? []).filter(({ id }) => !told.current.has(id))
    for (const notice of fresh.slice(0, Math.max(0, room))) {
      told.current.add(notice.id)
      markRead(notice.id, unheard.current)
      const text = shortened(notice.text.replace(MARKS, '').trim())
      toasts.keep(text)
      tellBeside(notice.id, text)
    }
  }, [query.data, toasts, room])
  return null
}

function markRead(id: string, unheard: Set<string>): void {
  schedules.read(id).then(
    () => unheard.delete(id),
    () => unheard.add(id),
  )
}

function shortened(text: string): string {
  const chars = [...text]
  return chars.length > SHOWN_CHARS ? `${chars.slice(0, SHOWN_CHARS - 1).join('')}…` : text
}
