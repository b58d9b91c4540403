import type { Clock } from '../../core/clock.ts'
import { appError } from '../../core/errors.ts'
import {
  FILE_WAIT_MS_MAX,
  FILES_WHOLE_CHARS_MAX,
  SESSION_FILES_MAX,
} from '../../core/limits/contract.ts'
import type { Principal } from '../../core/principal.ts'
import type { Statement } from '../../storage/db.ts'
import type { Tool } from '../../tools/tool.ts'
import type { FileTextStore } from '../knowledge/files/store.ts'
import { createFileQuotes, type FileQuoteParts, type QuotedText } from './quotes.ts'
import { createReadFileTool } from './read-tool.ts'
import { type Files, sightOf } from './service.ts'
import type { FileRow, FileStore } from './store.ts'

/** A file that a question names. */
export interface NamedFile {
  readonly file_id: string
  readonly name: string
}

/** The files of one turn. */
export interface FilesOfTurn {
  /** The files that the turn names, in order. */
  readonly named: readonly NamedFile[]
  readonly quoted: readonly QuotedText[]
  readonly tool: Tool | null
  /** Makes the named files those of the session. */
  readonly link: readonly Statement[]
}

export interface FileTurn {
  readonly principal: Principal
  readonly sessionId: string | null
  readonly ids: readonly string[]
  /** What the files are searched for. */
  readonly text: string
}

export interface OpenedFileTurn extends FileTurn {
  /** Whether earlier turns of the session have named files. */
  readonly hasEarlier: boolean
}

export interface TurnFilesParts extends FileQuoteParts {
  readonly store: FileStore
  readonly texts: Pick<FileTextStore, 'read' | 'firstOf'>
  readonly use: Files['use']
  readonly clock: Clock
}

const NO_FILES: FilesOfTurn = { named: [], quoted: [], tool: null, link: [] }
const LOOK_EVERY_MS = 200
/** Boards, and visitors of shares, have no files. */
const hasFiles = ({ kind, shareId }: Principal) => kind !== 'device' && shareId === undefined

const namedOf = (rows: readonly FileRow[]): NamedFile[] =>
  rows.map(({ id, name }) => ({ file_id: id, name }))

/** Files in turns: whether they may be named, and what the model reads of them. */
export function createTurnFiles(parts: TurnFilesParts) {
  const { store, texts, use, clock } = parts
  const { whole, find } = createFileQuotes(parts)

  /** Throws `not_found` unless all are seen, and `file_failed`. */
  async function rowsOf(principal: Principal, ids: readonly string[]): Promise<FileRow[]> {
    const rows = await store.find(sightOf(principal), clock.now(), ids)
    const byId = new Map(rows.map((row) => [row.id, row]))
    const found = ids.flatMap((id) => byId.get(id) ?? [])
    if (found.length < ids.length) throw appError('not_found', { what: 'file' })
    if (found.some(({ state }) => state === 'failed')) throw appError('file_failed')
    return found
  }

  async function sessionRows({ principal, sessionId }: FileTurn): Promise<FileRow[]> {
    return sessionId === null ? [] : store.ofSession(sightOf(principal), clock.now(), sessionId)
  }

  async function checkRoom(turn: FileTurn): Promise<void> {
    const known = await sessionRows(turn)
    const all = new Set([...known.map(({ id }) => id), ...turn.ids])
    if (all.size > SESSION_FILES_MAX) throw appError('quota_files', { max: SESSION_FILES_MAX })
  }

  /** Resolves once the files have been read. */
  async function waitFor({ principal, ids }: FileTurn, signal: AbortSignal): Promise<FileRow[]> {
    const start = clock.steady()
    for (;;) {
      const rows = await rowsOf(principal, ids)
      if (rows.every(({ state }) => state === 'ready')) return rows
      if (clock.steady() - start >= FILE_WAIT_MS_MAX) throw appError('file_not_ready')
      await clock.sleep(LOOK_EVERY_MS, signal)
    }
  }

  return {
    /** Before the turn. Throws `not_found`, `file_failed`, `quota_files` and `forbidden`. */
    async check(principal: Principal, sessionId: string | null, ids: readonly string[]) {
      if (ids.length === 0 || principal.shareId !== undefined) return
      if (principal.kind === 'device') throw appError('forbidden', { who: 'device' })
      await rowsOf(principal, ids)
      await checkRoom({ principal, sessionId, ids, text: '' })
    },

    /**
     * Waits for the named files, which counts as a use. Throws `file_not_ready` when they are not
     * read in time, and as `check`.
     */
    async ready(turn: FileTurn, signal: AbortSignal): Promise<readonly FileRow[]> {
      if (turn.ids.length === 0 || !hasFiles(turn.principal)) return []
      await use(turn.principal.tenantId, turn.ids)
      await checkRoom(turn)
      return waitFor(turn, signal)
    },

    /** Those of the files that are there and seen, in order. */
    async named(principal: Principal, ids: readonly string[]): Promise<NamedFile[]> {
      if (ids.length === 0) return []
      const rows = namedOf(await store.find(sightOf(principal), clock.now(), ids))
      return ids.flatMap((id) => rows.filter(({ file_id }) => file_id === id))
    },

    /** What the model reads of the named files, and of those that earlier turns have named. */
    async open(turn: OpenedFileTurn, named: readonly FileRow[], signal: AbortSignal) {
      if (!hasFiles(turn.principal)) return NO_FILES
      const { principal, sessionId } = turn
      const { tenantId } = principal
      const ids = new Set(named.map(({ id }) => id))
      const living = turn.hasEarlier ? await sessionRows(turn) : []
      const earlier = living.filter(({ id, state }) => state === 'ready' && !ids.has(id))
      const all = [...named, ...earlier]
      if (all.length === 0) return NO_FILES
      const chars = named.reduce((sum, { char_count }) => sum + char_count, 0)
      const isWhole = chars <= FILES_WHOLE_CHARS_MAX
      const shown = isWhole
        ? await Promise.all(named.map((file) => whole(tenantId, file)))
        : await find(turn, named, 'all', signal)
      const also = await find(turn, earlier, 'relevant', signal)
      const link = sessionId === null ? [] : store.link(tenantId, sessionId, [...ids])
      const tool = createReadFileTool({
        texts,
        files: all,
        find: () =>
          store.find(
            sightOf(principal),
            clock.now(),
            all.map(({ id }) => id),
          ),
      })
      return { named: namedOf(named), quoted: [...shown, ...also], tool, link }
    },
  }
}

export type TurnFiles = ReturnType<typeof createTurnFiles>
