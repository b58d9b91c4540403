import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { Chosen } from './bar.tsx'

export const freshSession = () =>
  `play-${crypto.getRandomValues(new Uint32Array(1))[0]?.toString(36)}`

/** App and session are in the page URL, so that a conversation can be linked. */
export function useChosen() {
  const navigate = useNavigate()
  const search: Record<string, unknown> = useSearch({ strict: false })
  const [first] = useState(freshSession)
  const [kb, setKb] = useState(true)
  const text = (name: string) => (search[name] === undefined ? '' : String(search[name]))
  const chosen: Chosen = { app: text('app'), session: text('session') || first, kb }
  const choose = (more: Partial<Chosen>) => {
    if (more.kb !== undefined) setKb(more.kb)
    const { app, session } = { ...chosen, ...more }
    void navigate({
      to: '.',
      search: { ...(app ? { app } : {}), session },
      replace: true,
      resetScroll: false,
    })
  }
  return { chosen, choose, linked: text('session') !== '' }
}
