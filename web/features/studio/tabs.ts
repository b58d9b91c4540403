import type { QueryClient } from '@tanstack/react-query'
import { reload } from '../../lib/reload.ts'
import type { Conversations } from './conversations.ts'
import { reloadNewest } from './use-stored.ts'

const CHANNEL = 'mb.conversations'

/** Queries that list sessions, or show their memory. */
const SHOWN = ['conversations', 'memory', 'pending', 'versions', 'sessions'] as const

/** Those that tell titles. */
const TITLED = ['conversations', 'pending'] as const

/** When the title may be there that a model gives to a new talk. */
const NAMED_AFTER_MS = [1_500, 4_000, 11_000]

/** After a turn, all tabs reload the queries that show it. */
export function joinTabs(conversations: Conversations, queries: QueryClient): void {
  const others = new BroadcastChannel(CHANNEL)
  const refresh = (session: string) =>
    Promise.all([reloadNewest(queries, session), ...SHOWN.map((key) => reload(queries, [key]))])
  others.onmessage = ({ data }: MessageEvent<string>) => refresh(data)
  conversations.onStored(async (session) => {
    others.postMessage(session)
    await refresh(session)
    if (conversations.turnsOf(session).at(-1)?.seq !== 1) return
    const read = () => TITLED.map((key) => reload(queries, [key]))
    for (const ms of NAMED_AFTER_MS) setTimeout(read, ms)
  })
  addEventListener('pagehide', conversations.keepUnsaved)
}
