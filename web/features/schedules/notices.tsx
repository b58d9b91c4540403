import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { schedules } from '../../api/schedules.ts'
import { tellBeside } from '../../lib/browser-notice.ts'
import { useToasts } from '../../lib/services.tsx'

const POLL_MS = 30_000
const SHOWN_CHARS = 200

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
      const text = notice.text.slice(0, SHOWN_CHARS)
      toasts.show('good', text)
      tellBeside(notice.id, text)
    }
  }, [query.data, toasts])
  return null
}
