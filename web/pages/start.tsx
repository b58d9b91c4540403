import { useQuery } from '@tanstack/react-query'
import { Navigate } from '@tanstack/react-router'
import { api } from '../api/index.ts'
import { Loading } from '../ui/state.tsx'

/** The root path: redirects to the console when signed in, else to the sign-in page. */
export function Start() {
  const me = useQuery({ queryKey: ['me'], queryFn: api.auth.me, retry: false })
  if (me.data) return <Navigate to="/app" replace />
  if (me.error) return <Navigate to="/login" search={{}} replace />
  return <Loading />
}
