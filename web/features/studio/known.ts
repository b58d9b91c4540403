import {
  type InfiniteData,
  type QueryClient,
  useIsFetching,
  useQueryClient,
} from '@tanstack/react-query'
import type { Conversation, ConversationList } from '../../api/types.ts'

/** The address of a conversation in the studio, at the turn that was found. */
export const searchOf = ({ id, app_id, match }: Conversation) => ({
  ...(app_id ? { app: app_id } : {}),
  session: id,
  ...(match ? { turn: match.seq } : {}),
})

const LISTS = ['conversations', 'sessions']

/** Whether it is a list of conversations: in pages, or the first ones alone. */
const predicate = ({ queryKey: [first] }: { readonly queryKey: readonly unknown[] }) =>
  LISTS.includes(String(first))

/** A conversation that one of the lists has loaded. */
export function knownIn(client: QueryClient, session: string): Conversation | undefined {
  const lists = client.getQueriesData<InfiniteData<ConversationList> | ConversationList>({
    predicate,
  })
  const pages = lists.flatMap(([, list]) => (list && 'pages' in list ? list.pages : (list ?? [])))
  return pages.flatMap(({ conversations }) => conversations).find(({ id }) => id === session)
}

/** As `knownIn`; renders again when a list has been loaded. */
export function useKnown(session: string): Conversation | undefined {
  useIsFetching({ predicate })
  return knownIn(useQueryClient(), session)
}
