import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { type Notice, schedules } from '../../api/schedules.ts'
import { useToasts } from '../../lib/services.tsx'

const POLL_MS = 30_000
const SHOWN_CHARS = 200
/** Marks of Markdown, and numbers of sources: a toast has plain words. */
const MARKS = /^[|:\s-]+$|^#+ |\*\*|`|\||\[\d+\]/gm

/** Tells results of schedules and reminders: as a toast, and as a notification of the browser. */
export function Notices() {
  const toasts = useToasts()
  const seen = useRef(new Set<string>())
  const query = useQuery({
    queryKey: ['notices'],
    queryFn: schedules.notices,
    refetchInterval: POLL_MS,
    refetchIntervalInBackground: true,
    meta: { quiet: true },
  })
  useEffect(() => {
    for (const notice of query.data ?? []) {
      if (seen.current.has(notice.id)) continue
      seen.current.add(notice.id)
      schedules.read(notice.id).catch(() => seen.current.delete(notice.id))
      const text = notice.text.replace(MARKS, '').trim().slice(0, SHOWN_CHARS)
      toasts.show('good', text)
      notifyBrowser(notice, text)
    }
  }, [query.data, toasts])
  return null
}

function notifyBrowser({ id }: Notice, body: string): void {
  if (typeof Notification === 'undefined' || Notification.permission !== 'granted') return
  try {
    new Notification('Moonbase', { body, tag: id })
  } catch {
    // Chrome for Android has the class, but throws when a page makes one; the toast has told it.
  }
}
