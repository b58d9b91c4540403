import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api } from '../../api/index.ts'
import { useAction } from '../../lib/services.tsx'

/** Signs out, here or everywhere, and leads to the sign-in. */
export function useLogout() {
  const goTo = useNavigate()
  const client = useQueryClient()
  return useAction(api.auth.logout, {
    onDone: () => {
      client.clear()
      void goTo({ to: '/login' })
    },
  })
}
