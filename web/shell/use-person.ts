import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { showTenant } from '../api/client.ts'
import { api } from '../api/index.ts'
import { useConversations } from '../features/studio/conversations.ts'

/**
 * Watches who is signed in. When another tab has signed another person in, or has switched the
 * tenant, the page reloads: otherwise it would show data of the first and change data of the
 * second. Counts the times that drafts of another person were dropped: a page that was made
 * before has to be made anew.
 */
export function usePerson(): number {
  const { data: me } = useQuery({ queryKey: ['me'], queryFn: api.auth.me, staleTime: 0 })
  const { own } = useConversations()
  const [drops, setDrops] = useState(0)
  const first = useRef<string>(undefined)
  const id = me && `${me.user_id} ${me.tenant_id}`
  useEffect(() => {
    if (id === undefined) return
    if (own(id)) setDrops((count) => count + 1)
    if (first.current !== undefined && first.current !== id) location.assign('/app')
    first.current ??= id
  }, [id, own])
  const tenant = me?.tenant_id
  useEffect(() => {
    if (tenant !== undefined) showTenant(tenant)
  }, [tenant])
  return drops
}
