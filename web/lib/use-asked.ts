import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useEffectEvent } from 'react'

type Search = Readonly<Record<string, unknown>>

/**
 * Opens the dialog for a new item when the address has `?new`, and removes that, so that going back
 * does not open it again.
 */
export function useAsked(open: () => void): void {
  const { new: wanted }: Search = useSearch({ strict: false })
  const navigate = useNavigate()
  const openNow = useEffectEvent(open)
  useEffect(() => {
    if (wanted === undefined) return
    openNow()
    void navigate({ to: '.', search: ({ new: _, ...rest }: Search) => rest, replace: true })
  }, [wanted, navigate])
}
