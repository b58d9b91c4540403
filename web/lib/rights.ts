import { useQuery } from '@tanstack/react-query'
import { api } from '../api/index.ts'

/** Whether the signed-in person runs this server. */
export const useOperator = (): boolean =>
  useQuery({ queryKey: ['me'], queryFn: api.auth.me }).data?.operator === true

/** Whether the person may do everything, such as issue a key that opens the whole workspace. */
export const useOwns = (): boolean =>
  useQuery({ queryKey: ['me'], queryFn: api.auth.me }).data?.role === 'owner'

/** Whether the person may change things; a viewer may read and try the assistant. */
export const useMayChange = (): boolean =>
  useQuery({ queryKey: ['me'], queryFn: api.auth.me }).data?.role !== 'viewer'
