import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/index.ts'

const POLL_MS = 2_000

/** How many documents wait to be embedded; asks again while some do. */
export const useEmbedding = () =>
  useQuery({
    queryKey: ['kb', 'embedding'],
    queryFn: api.kb.embedding,
    refetchInterval: ({ state: { data } }) => (data && data.waiting > 0 ? POLL_MS : false),
  })
