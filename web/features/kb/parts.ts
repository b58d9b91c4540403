import { useQuery } from '@tanstack/react-query'
import { ApiError } from '../../api/client.ts'
import { api } from '../../api/index.ts'
import { libraryApi } from '../../api/library.ts'
import { isInWork } from './library.ts'

const POLL_MS = 1_200

const orNull = (error: unknown): null => {
  if (error instanceof ApiError && error.status === 404) return null
  throw error
}

/** A document with its pages; null: it is gone. */
export const useDoc = (id: string) =>
  useQuery({
    queryKey: ['kb', 'doc', id],
    queryFn: () => api.kb.doc(id).catch(orNull),
  })

/** The file or page of a document; null: it is gone. Polls while it is being read. */
export const useSource = (id: string | null) =>
  useQuery({
    queryKey: ['kb', 'source', id],
    queryFn: () => libraryApi.source(id ?? '').catch(orNull),
    enabled: id !== null,
    refetchInterval: ({ state: { data } }) => (data && isInWork(data) ? POLL_MS : false),
  })

/** The documents of a file or page. */
export const useParts = (sourceId: string | null) =>
  useQuery({
    queryKey: ['kb', 'parts', sourceId],
    queryFn: () => libraryApi.parts(sourceId ?? ''),
    enabled: sourceId !== null,
  })
