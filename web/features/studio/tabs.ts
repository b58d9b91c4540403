import type { QueryClient } from '@tanstack/react-query'
import { reload } from '../../lib/reload.ts'
import type { Conversations } from './conversations.ts'

const CHANNEL = 'mb.conversations'

/** What shows the turns of sessions, or lists them. */
const SHOWN = ['conversations', 'memory', 'sessions', 'transcript'] as const

/** After a turn, this tab and the others read again what the server has stored. */
export function joinTabs(conversations: Conversations, queries: QueryClient): void {
  const others = new BroadcastChannel(CHANNEL)
  const refresh = () => Promise.all(SHOWN.map((key) => reload(queries, [key])))
  others.onmessage = refresh
  conversations.onStored(async () => {
    others.postMessage(null)
    await refresh()
  })
  addEventListener('pagehide', conversations.keepUnsaved)
}
