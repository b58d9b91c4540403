import { appError } from '../../core/errors.ts'
import { CONVERSATION_TITLE_CHARS_MAX, IMAGE_PLACEHOLDER } from '../../core/limits/contract.ts'
import type { Principal } from '../../core/principal.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import { firstChars, inOneLine } from '../../core/text.ts'
import type { TurnIndex } from '../../storage/indexes.ts'
import { isSeen, type Scope } from './access.ts'
import { createConversationFinder } from './conversation-finder.ts'
import type {
  ConversationRow,
  ConversationStore,
  ListPosition,
  Marks,
} from './conversation-store.ts'
import type { Indexing } from './indexing.ts'
import type { Conversation, ConversationListResponse, ConversationRequest } from './model.ts'

export interface ConversationQuery {
  /** The query; empty lists all conversations. */
  readonly q: string
  readonly marks: Marks
  readonly place: ListPosition | null
  readonly limit: number
}

export interface ConversationsOptions {
  readonly store: ConversationStore
  readonly index: TurnIndex
  readonly indexing: Pick<Indexing, 'catchUp'>
}

/** The conversations of a tenant with their titles, for people. */
export function createConversations({ store, index, indexing }: ConversationsOptions) {
  const finder = createConversationFinder({ store, index })
  /** One search at a time for each tenant. */
  const inTurn = createSemaphore({ perKey: 1 }).run

  return {
    /** Most recently active first. Rejects with the signal's reason when it aborts. */
    async list(
      scope: Scope,
      query: ConversationQuery,
      signal?: AbortSignal,
    ): Promise<ConversationListResponse> {
      const { q, marks, place, limit } = query
      const find = async () => {
        await indexing.catchUp(scope.tenantId, signal)
        const nums = await finder.find(scope, query, signal)
        const shown = await finder.show(scope.tenantId, q, nums.slice(0, limit), signal)
        return { shown, isLast: nums.length <= limit }
      }
      const browse = async () => {
        const rows = await store.list(scope, place, limit + 1, marks)
        const shown = rows.slice(0, limit).map((row) => ({ row, match: undefined }))
        return { shown, isLast: rows.length <= limit }
      }
      const { shown, isLast } = await (q === '' ? browse() : inTurn(scope.tenantId, find, signal))
      const last = isLast ? undefined : shown.at(-1)?.row
      return {
        conversations: shown
          .filter(({ row }) => isMarked(row, marks))
          .map(({ row, match }) =>
            match === undefined ? conversationOf(row) : { ...conversationOf(row), match },
          ),
        next_before: last ? placeOf(last, q) : null,
      }
    },

    /** Throws `not_found`. */
    async read(principal: Principal, id: string): Promise<Conversation> {
      const row = await store.read(principal.tenantId, id)
      if (!row || !isSeen(principal, row.user_id)) throw appError('not_found', { what: 'session' })
      return conversationOf(row)
    },

    /** The title that people see; empty for an unknown conversation. */
    async titleOf(tenantId: string, id: string): Promise<string> {
      const row = await store.read(tenantId, id)
      return row ? conversationOf(row).title : ''
    },

    /** Changes what is given; a blank title removes it. Throws `not_found`. */
    async change(
      principal: Principal,
      id: string,
      { title, ...marks }: ConversationRequest,
    ): Promise<Conversation> {
      const { tenantId } = principal
      const before = await store.read(tenantId, id)
      if (!isSeen(principal, before?.user_id)) throw appError('not_found', { what: 'session' })
      if (title !== undefined) await store.rename(tenantId, id, title || null)
      if (Object.values(marks).some((one) => one !== undefined)) {
        await store.mark(tenantId, id, marks)
      }
      const row = await store.read(tenantId, id)
      if (!row) throw appError('not_found', { what: 'session' })
      return conversationOf(row)
    },
  }
}

export type Conversations = ReturnType<typeof createConversations>

/** A search finds conversations of all folders; those of others are left out of its pages. */
const isMarked = (row: ConversationRow, { folder, archived, appId, deviceId }: Marks): boolean =>
  (folder === null || row.folder === folder) &&
  (archived === null || (row.archived === 1) === archived) &&
  (appId === null || row.app_id === appId) &&
  (deviceId === null || row.device_id === deviceId)

/** The pinned ones come first where all are listed, so their places are marked. */
const placeOf = ({ last_at, id, pinned }: ConversationRow, q: string): string =>
  `${q === '' && pinned === 1 ? '!' : ''}${last_at}${id}`

function conversationOf({ named, first_text, ...row }: ConversationRow): Conversation {
  const { id, turn_count, last_at, app_id, device_id, folder, pinned, archived } = row
  const marks = { folder, pinned: pinned === 1, archived: archived === 1 }
  const title = named ?? titleOfText(first_text ?? '')
  return { id, title, turn_count, last_at, app_id, device_id, ...marks }
}

/** Files are noted before the words of a question. */
const FILES_NOTED = /^(?:\[文件 .*\]\n)+/u

/** The title of a conversation that nobody has named: its first text, in one line. */
export const titleOfText = (text: string): string => {
  const words = text.replaceAll(IMAGE_PLACEHOLDER, '').replace(FILES_NOTED, '')
  return firstChars(inOneLine(words), CONVERSATION_TITLE_CHARS_MAX)
}
