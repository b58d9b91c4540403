import { FILE_HITS_MAX, FILES_WHOLE_CHARS_MAX } from '../../core/limits/contract.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import type { Principal } from '../../core/principal.ts'
import type { FileSearch } from '../knowledge/files/search.ts'
import type { FileTextStore } from '../knowledge/files/store.ts'
import type { FileRow } from './store.ts'

/** A passage of a file, or a whole file, that was shown to the model. */
export interface FileRef {
  readonly file_id: string
  readonly name: string
  readonly seq: number
  readonly page: number | null
  readonly heading: string | null
  /** Null for a file that was shown whole. */
  readonly score: number | null
}

/** What the model reads of a file. */
export interface QuotedText extends FileRef {
  readonly text: string
}

export interface FileQuoteParts {
  readonly texts: Pick<FileTextStore, 'read'>
  readonly search: FileSearch
  readonly log: Logger
}

type Named = Pick<FileRow, 'id' | 'name'>

interface Question {
  readonly principal: Principal
  readonly text: string
}

/** More passages than a file of this many characters has. */
const ALL_PASSAGES = FILES_WHOLE_CHARS_MAX

/** What a model reads of files: a short one whole, of others the passages that a search finds. */
export function createFileQuotes({ texts, search, log }: FileQuoteParts) {
  async function whole(tenantId: string, { id, name }: Named): Promise<QuotedText> {
    const { passages } = await texts.read(tenantId, id, 0, ALL_PASSAGES)
    let page: number | null = null
    let text = ''
    for (const one of passages) {
      if (one.page !== page && one.page !== null) text += `\n【第 ${one.page} 页】\n`
      page = one.page
      text += one.text
    }
    const [first] = passages
    const place = { page: first?.page ?? null, heading: first?.heading ?? null }
    return { file_id: id, name, seq: 0, ...place, score: null, text: text.trim() }
  }

  /** The best passages; none when the search fails, so that the turn goes on. */
  async function find(
    { principal, text }: Question,
    files: readonly Named[],
    which: 'all' | 'relevant',
    signal: AbortSignal,
  ): Promise<QuotedText[]> {
    if (files.length === 0 || text.trim() === '') return []
    const names = new Map(files.map(({ id, name }) => [id, name]))
    try {
      const found = await search(principal.tenantId, [...names.keys()], text, FILE_HITS_MAX, signal)
      return found
        .filter(({ isRelevant }) => which === 'all' || isRelevant)
        .map(({ fileId, seq, page, heading, score, text: said }) => {
          const name = names.get(fileId) ?? ''
          return { file_id: fileId, name, seq, page, heading, score, text: said }
        })
    } catch (error) {
      signal.throwIfAborted()
      log.warn('search of files failed', errorFields(error))
      return []
    }
  }

  return { whole, find }
}
