import type { QueryClient } from '@tanstack/react-query'
import { reload } from '../../lib/reload.ts'
import type { Conversations } from './conversations.ts'
import { reloadNewest } from './use-stored.ts'

const CHANNEL = 'mb.conversations'

/** What lists sessions, or tells what the model knows of them. */
const SHOWN = ['conversations', 'memory', 'sessions'] as const

/** After a turn, this tab and the others read again what the server has stored. */
export function joinTabs(conversations: Conversations, queries: QueryClient): void {
  const others = new BroadcastChannel(CHANNEL)
  const refresh = (session: string) =>
    Promise.all([reloadNewest(queries, session), ...SHOWN.map((key) => reload(queries, [key]))])
  others.onmessage = ({ data }: MessageEvent<string>) => refresh(data)
  conversations.onStored(async (session) => {
    others.postMessage(session)
    await refresh(session)
  })
  addEventListener('pagehide', conversations.keepUnsaved)
}
