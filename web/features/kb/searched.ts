import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/index.ts'

interface Asked {
  readonly q: string
  readonly collection: string | null
  /** Counts the times: the same question asked again is searched again. */
  readonly time: number
}

/** What was found for the last question; late answers to those before it are dropped. */
export function useSearched() {
  const [asked, setAsked] = useState<Asked | null>(null)
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['kb search', asked],
    queryFn: () => api.kb.search({ q: asked?.q ?? '', collection: asked?.collection ?? null }),
    enabled: asked !== null,
    retry: false,
    staleTime: Infinity,
    gcTime: 0,
  })
  return {
    asked,
    data,
    error,
    isFetching,
    refetch,
    ask: (more: Omit<Asked, 'time'>) => setAsked({ ...more, time: (asked?.time ?? 0) + 1 }),
  }
}
