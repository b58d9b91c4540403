import type { QueryClient } from '@tanstack/react-query'
import { reload } from '../../lib/reload.ts'
import type { Conversations } from './conversations.ts'

const CHANNEL = 'mb.conversations'

/** After a turn, this tab reads the lists again, and the other tabs what was said, too. */
export function joinTabs(conversations: Conversations, queries: QueryClient): void {
  const others = new BroadcastChannel(CHANNEL)
  const refresh = (keys: readonly string[]) => {
    for (const key of keys) void reload(queries, [key])
  }
  others.onmessage = () => refresh(['sessions', 'history'])
  conversations.onStored(() => {
    refresh(['sessions'])
    others.postMessage(null)
  })
  addEventListener('pagehide', conversations.keepUnsaved)
}
