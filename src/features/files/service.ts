import { type Clock, HOUR_MS } from '../../core/clock.ts'
import { sha256Hex } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import { CHAT_FILE_NAME_CHARS_MAX, CHAT_FILES_MAX } from '../../core/limits/contract.ts'
import type { Principal } from '../../core/principal.ts'
import { firstChars } from '../../core/text.ts'
import { NO_COLLECTION } from '../../storage/collections.ts'
import type { Access } from '../knowledge/collections/access.ts'
import type { KeepFile } from '../knowledge/files/keep.ts'
import type { FileTextStore } from '../knowledge/files/store.ts'
import type { ArrivedFile, Receive } from '../knowledge/sources/receive.ts'
import type { Sources } from '../knowledge/sources/service.ts'
import type { ChatFile, ChatFilesResponse, ChatFileText, KeepRequest } from './model.ts'
import type { FileKey, FileRow, FileStore, NewChatFile, Sight } from './store.ts'

export interface FilesParts {
  readonly store: FileStore
  readonly texts: Pick<FileTextStore, 'read'>
  readonly receive: Sources['receiveFile']
  readonly discard: Sources['discard']
  readonly readAgain: Sources['readAgain']
  readonly keep: KeepFile
  /** The collection that an upload goes to. */
  readonly targetOf: Access['target']
  readonly clock: Clock
  /** How long a file lives after its last use. */
  readonly hours: () => number
}

/** Who sees which files: a key of an app those of its app, a viewer their own. */
export const sightOf = ({ kind, tenantId, appId, userId, role }: Principal): Sight => ({
  tenantId,
  appId: kind === 'app' ? (appId ?? '') : null,
  userId: role === 'viewer' ? userId : null,
})

const missing = () => appError('not_found', { what: 'file' })

/** Files that end are removed this many at a time. */
const ENDED_AT_ONCE = 100

type NewFile = Pick<NewChatFile, 'id' | 'name' | 'hash' | 'expiresAt'>

const fileFrom = ({ kind, tenantId, appId, userId }: Principal, file: NewFile): NewChatFile => ({
  ...file,
  tenantId,
  appId: kind === 'app' ? appId : null,
  userId: kind === 'session' ? userId : null,
})

/** Files that people talk about: they live for a while, and the original is not kept. */
export function createFiles(parts: FilesParts) {
  const { store, texts, receive, discard, keep, targetOf, clock, hours } = parts
  const expiry = () => Math.round(clock.now() + hours() * HOUR_MS)
  const tooMany = () => appError('quota_files', { max: CHAT_FILES_MAX })

  async function rowOf(principal: Principal, id: string): Promise<FileRow> {
    const [row] = await store.find(sightOf(principal), clock.now(), [id])
    if (!row) throw missing()
    return row
  }

  async function readyRow(principal: Principal, id: string): Promise<FileRow> {
    const row = await rowOf(principal, id)
    if (row.state === 'failed') throw appError('file_failed')
    if (row.state !== 'ready') throw appError('file_not_ready')
    return row
  }

  async function checkRoom(tenantId: string): Promise<void> {
    if ((await store.count(tenantId, clock.now())) >= CHAT_FILES_MAX) throw tooMany()
  }

  const newFile = (principal: Principal, id: string, fileName: string, hash: string) =>
    fileFrom(principal, { id, name: nameOf(fileName), hash, expiresAt: expiry() })

  async function upload(principal: Principal, form: Receive): Promise<ChatFile> {
    await checkRoom(principal.tenantId)
    const destine = ({ id, fileName, bytes }: ArrivedFile) => {
      const file = newFile(principal, id, fileName, sha256Hex(bytes))
      const insert = store.insert(file, clock.now(), CHAT_FILES_MAX)
      const kept = { kind: 'chat' as const, collection_id: NO_COLLECTION }
      return { ...kept, title: file.name, also: [insert] }
    }
    const answer = async (id: string) => fileOf(await rowOf(principal, id))
    return receive(principal, form, destine, answer).catch(async (error: unknown) => {
      // Another upload may have taken the last place meanwhile.
      await checkRoom(principal.tenantId)
      throw error
    })
  }

  return {
    upload,

    /** The id of a file that comes with a question; the same file again is not read again. */
    async take(principal: Principal, name: string, bytes: Uint8Array): Promise<string> {
      const sent = newFile(principal, '', name, sha256Hex(bytes))
      const same = await store.same(sent, clock.now())
      if (same) return same.id
      const { id } = await upload(principal, async (save) => {
        await save(piecesOf(bytes))
        return { title: undefined, fileName: name, contentType: '' }
      })
      return id
    },

    async list(
      principal: Principal,
      before: string | null,
      limit: number,
    ): Promise<ChatFilesResponse> {
      const rows = await store.list(sightOf(principal), clock.now(), before, limit + 1)
      const shown = rows.slice(0, limit)
      const next_before = rows.length > limit ? (shown.at(-1)?.id ?? null) : null
      return { files: shown.map(fileOf), next_before }
    },

    get: async (principal: Principal, id: string): Promise<ChatFile> =>
      fileOf(await rowOf(principal, id)),

    async remove(principal: Principal, id: string): Promise<{ id: string; deleted: true }> {
      await rowOf(principal, id)
      if (!(await discard(principal.tenantId, id))) throw missing()
      return { id, deleted: true }
    },

    /** Passages of a file that has been read; none past its end. */
    async text(
      principal: Principal,
      id: string,
      from: number,
      count: number,
    ): Promise<ChatFileText> {
      await readyRow(principal, id)
      return texts.read(principal.tenantId, id, from, count)
    },

    refresh: createRefresh(parts, rowOf, expiry),

    /** Puts the text of a file into the knowledge base. */
    async keep(principal: Principal, id: string, { title, collection_id }: KeepRequest) {
      const row = await readyRow(principal, id)
      const collection = await targetOf(principal, collection_id)
      return keep(principal.tenantId, row, title, collection)
    },

    /** Notes that a turn has named these files. */
    use: (tenantId: string, ids: readonly string[]) => store.use(tenantId, ids, expiry()),

    prune: () => prune(parts),
    sweep: () => sweep(parts),
  }
}

type RowOf = (principal: Principal, id: string) => Promise<FileRow>

/**
 * Reads a file whose scanned pages have failed once more, which is a use of it. What was read of it
 * is kept. Throws `not_refreshable` for any other one.
 */
const createRefresh =
  ({ store, readAgain }: FilesParts, rowOf: RowOf, expiry: () => number) =>
  async (principal: Principal, id: string): Promise<ChatFile> => {
    const { tenantId } = principal
    await rowOf(principal, id)
    if (!(await readAgain(tenantId, id))) throw appError('not_refreshable')
    await store.use(tenantId, [id], expiry())
    return fileOf(await rowOf(principal, id))
  }

/** Removes files whose time is over. */
const prune = ({ store, discard, clock }: FilesParts): Promise<void> =>
  discardAll(discard, () => store.ended(clock.now(), ENDED_AT_ONCE))

/** Removes files whose app was deleted, and what sessions say of files that are gone. */
async function sweep({ store, discard }: FilesParts): Promise<void> {
  await discardAll(discard, () => store.ofGoneApps(ENDED_AT_ONCE))
  await store.forgetEnded()
}

/** Discards files until fewer than `ENDED_AT_ONCE` are found. */
async function discardAll(
  discard: FilesParts['discard'],
  find: () => Promise<readonly FileKey[]>,
): Promise<void> {
  for (;;) {
    const ended = await find()
    for (const { tenant_id, id } of ended) await discard(tenant_id, id)
    if (ended.length < ENDED_AT_ONCE) break
  }
}

export type Files = ReturnType<typeof createFiles>

async function* piecesOf(bytes: Uint8Array) {
  yield bytes
}

const UNNAMED = '未命名文件'

/** The last part of the name that was sent, in one line. */
const nameOf = (given: string): string =>
  firstChars(
    (given.split(/[/\\]/).at(-1) ?? '')
      .replace(/[\s\p{Cc}]+/gu, ' ')
      .trim()
      .toWellFormed(),
    CHAT_FILE_NAME_CHARS_MAX,
  ) || UNNAMED

function fileOf({ state, expires_at, ...row }: FileRow): ChatFile {
  const { id, name, media_type, bytes, error_class, error, char_count, created_at } = row
  const { pages, pages_done, ocr_pages, pages_unread, spooled_until } = row
  const isWaiting = state === 'queued' || state === 'embedding'
  return {
    id,
    name,
    media_type,
    bytes,
    state: isWaiting ? 'reading' : state,
    error_class,
    error,
    pages,
    pages_done: state === 'ready' ? pages : pages_done,
    ocr_pages,
    ...(pages_unread > 0 ? { pages_unread } : {}),
    ...(spooled_until === null ? {} : { readable_until: new Date(spooled_until).toISOString() }),
    char_count,
    expires_at: new Date(expires_at).toISOString(),
    created_at,
  }
}
