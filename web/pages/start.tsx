import { useQuery } from '@tanstack/react-query'
import { Navigate } from '@tanstack/react-router'
import { ApiError } from '../api/client.ts'
import { api } from '../api/index.ts'
import { SIGNED_OUT } from '../lib/services.tsx'
import { Fault, Loading } from '../ui/state.tsx'

const AGAIN_MS = 5_000

/**
 * The root path: redirects to the console when signed in, else to the sign-in page. A server that
 * cannot be reached has not said which.
 */
export function Start() {
  const me = useQuery({
    queryKey: ['me'],
    queryFn: api.auth.me,
    retry: false,
    refetchInterval: ({ state: { error } }) => (error ? AGAIN_MS : false),
  })
  if (me.data) return <Navigate to="/app" replace />
  if (me.error instanceof ApiError && me.error.status === SIGNED_OUT) {
    return <Navigate to="/login" search={{}} replace />
  }
  if (me.error) {
    return (
      <main id="main">
        <Fault error={me.error} onRetry={() => void me.refetch()} />
      </main>
    )
  }
  return <Loading />
}
