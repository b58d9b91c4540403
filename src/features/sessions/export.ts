import { appError } from '../../core/errors.ts'
import type { Principal } from '../../core/principal.ts'
import { titleOfText } from './conversations.ts'
import { FORMS, type Form } from './export-forms.ts'
import type { Conversation, TranscriptTurn } from './model.ts'

/** The forms in which a conversation can be taken away. */
const FORMATS = {
  md: 'text/markdown; charset=utf-8',
  json: 'application/json',
  html: 'text/html; charset=utf-8',
} as const
export type ExportFormat = keyof typeof FORMATS

/** Markdown when nothing is given. Throws a 400 for another word. */
export function exportFormat(given: string | null): ExportFormat {
  const format = given || 'md'
  if (!Object.hasOwn(FORMATS, format)) throw appError('query_invalid', { field: 'format' })
  return format as ExportFormat
}

export interface SessionExportParts {
  /** All turns that the caller sees, oldest first, read one at a time. */
  readonly turnsOf: (principal: Principal, id: string) => AsyncIterable<TranscriptTurn>
  /** Throws `not_found` for a session that the caller does not see. */
  readonly head: (principal: Principal, id: string) => Promise<Pick<Conversation, 'title'>>
}

/** A file whose parts are read as it is sent. */
interface SessionFile {
  readonly parts: AsyncIterable<string>
  readonly headers: Readonly<Record<string, string>>
}

/** Gives one conversation as a file, whose turns are read as it is sent. */
export const createSessionExport =
  ({ turnsOf, head }: SessionExportParts) =>
  /** Throws `not_found` for a session that the caller does not see. */
  async (principal: Principal, id: string, format: ExportFormat): Promise<SessionFile> => {
    const named = await head(principal, id)
    const isOfApp = principal.kind === 'app'
    const first = isOfApp ? await firstOf(turnsOf(principal, id)) : null
    if (isOfApp && !first) throw appError('not_found', { what: 'session' })
    // Another app may have begun the session, and its words are its own.
    const title = isOfApp ? titleOfText(first?.user_text ?? '') : named.title
    return {
      parts: partsOf(FORMS[format], { session_id: id, title }, turnsOf(principal, id)),
      headers: {
        'content-type': FORMATS[format],
        'content-disposition': `attachment; filename="${fileName(id)}.${format}"`,
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
        'cache-control': 'no-store',
      },
    }
  }

export type SessionExport = ReturnType<typeof createSessionExport>

async function firstOf<Item>(items: AsyncIterable<Item>): Promise<Item | null> {
  for await (const item of items) return item
  return null
}

async function* partsOf(
  form: Form,
  named: { readonly session_id: string; readonly title: string },
  turns: AsyncIterable<TranscriptTurn>,
): AsyncGenerator<string> {
  yield form.head(named)
  let count = 0
  for await (const turn of turns) yield form.turn(turn, count++)
  yield form.foot(count)
}

/** ASCII, which all browsers write alike. */
const fileName = (id: string): string =>
  `conversation-${id.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 60)}`
