import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { MOVED, showTenant } from '../api/client.ts'
import { api } from '../api/index.ts'
import { useConversations } from '../features/studio/conversations.ts'

/**
 * Watches who is signed in. When another tab has signed another person in, the page reloads:
 * otherwise it would show data of the first and change data of the second. Where the same person is
 * in another tenant now, a message offers that. Counts the times that drafts of another person were
 * dropped: a page that was made before has to be made anew.
 */
export function usePerson(): number {
  const { data: me } = useQuery({ queryKey: ['me'], queryFn: api.auth.me, staleTime: 0 })
  const { own } = useConversations()
  const [drops, setDrops] = useState(0)
  const first = useRef(me)
  useEffect(() => {
    if (!me) return
    if (own(me.user_id)) setDrops((count) => count + 1)
    first.current ??= me
    const { user_id, tenant_id } = first.current
    if (user_id !== me.user_id) location.assign('/app')
    else if (tenant_id !== me.tenant_id) dispatchEvent(new Event(MOVED))
  }, [me, own])
  const tenant = me?.tenant_id
  useEffect(() => {
    if (tenant !== undefined) showTenant(tenant)
  }, [tenant])
  return drops
}
