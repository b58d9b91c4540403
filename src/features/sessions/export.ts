import { appError } from '../../core/errors.ts'
import type { Principal } from '../../core/principal.ts'
import { titleOfText } from './conversations.ts'
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
  readonly page: (
    principal: Principal,
    id: string,
    page: { readonly before: number; readonly limit: number },
  ) => Promise<{
    readonly turns: AsyncIterable<TranscriptTurn>
    readonly next_before: number | null
  }>
  /** Throws `not_found` for a session that the caller does not see. */
  readonly head: (principal: Principal, id: string) => Promise<Pick<Conversation, 'title'>>
}

/** Turns whose numbers are read at once. */
const PAGE_TURNS = 100

/** Gives one conversation as a file. */
export function createSessionExport({ page, head }: SessionExportParts) {
  /** The numbers of all turns, oldest first, as pages of the transcript. */
  async function turnsOf(principal: Principal, id: string): Promise<TranscriptTurn[]> {
    const turns: TranscriptTurn[] = []
    for (let before: number | null = Number.MAX_SAFE_INTEGER; before !== null; ) {
      const { turns: some, next_before } = await page(principal, id, { before, limit: PAGE_TURNS })
      for await (const turn of some) turns.push(turn)
      before = next_before
    }
    return turns.reverse()
  }

  /** Throws `not_found` for a session that the caller does not see. */
  return async function exportSession(
    principal: Principal,
    id: string,
    format: ExportFormat,
  ): Promise<Response> {
    const named = await head(principal, id)
    const turns = await turnsOf(principal, id)
    const [first] = turns
    const isOfApp = principal.kind === 'app'
    if (isOfApp && !first) throw appError('not_found', { what: 'session' })
    // Another app may have begun the session, and its words are its own.
    const title = isOfApp ? titleOfText(first?.user_text ?? '') : named.title
    const text = WRITERS[format]({ session_id: id, title, turns })
    return new Response(text, {
      headers: {
        'content-type': FORMATS[format],
        'content-disposition': `attachment; filename="${fileName(id)}.${format}"`,
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
        'cache-control': 'no-store',
      },
    })
  }
}

export type SessionExport = ReturnType<typeof createSessionExport>

/** ASCII, which all browsers write alike. */
const fileName = (id: string): string =>
  `conversation-${id.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 60)}`

interface Exported {
  readonly session_id: string
  readonly title: string
  readonly turns: readonly TranscriptTurn[]
}

const WRITERS: Readonly<Record<ExportFormat, (exported: Exported) => string>> = {
  json: (exported) => JSON.stringify(exported, null, 2),
  md: markdownOf,
  html: htmlOf,
}

/** The sources of a turn, and the tools that it ran, by name. */
function notesOf({ details }: TranscriptTurn): { sources: string[]; tools: string[] } {
  const place = (page: number | null) => (page === null ? '' : ` p. ${page}`)
  const kb = details?.kb_refs.map(({ title, seq, page }) => `${title} #${seq}${place(page)}`) ?? []
  const files = details?.file_refs?.map(({ name, page }) => `${name}${place(page)}`) ?? []
  return {
    sources: [...new Set([...kb, ...files])],
    tools: details?.tools.map(({ name, ok }) => (ok ? name : `${name} ✗`)) ?? [],
  }
}

/** One line, in which no character begins a mark of Markdown. */
const inline = (text: string) =>
  text.replace(/\s+/g, ' ').replace(/[\\`*_[\]<>#|]/g, (mark) => `\\${mark}`)

function markdownOf({ title, turns }: Exported): string {
  const parts = turns.map((turn) => {
    const { sources, tools } = notesOf(turn)
    const notes = [
      ...(tools.length > 0 ? [`🔧 ${tools.map(inline).join(', ')}`] : []),
      ...sources.map((one, i) => `${i + 1}. ${inline(one)}`),
    ]
    const quoted = turn.user_text.split('\n').map((line) => `> ${line}`)
    return [`## ${turn.created_at}`, quoted.join('\n'), turn.reply, ...notes].join('\n\n')
  })
  return `${[`# ${inline(title)}`, ...parts].join('\n\n')}\n`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}
const escaped = (text: string) => text.replace(/[&<>"]/g, (mark) => ENTITIES[mark] ?? mark)

const STYLE =
  'body{font:16px/1.6 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}' +
  'p,blockquote{white-space:pre-wrap;overflow-wrap:anywhere}' +
  'blockquote{border-left:4px solid;margin:0;padding-left:1rem}'

function htmlOf({ title, turns }: Exported): string {
  const parts = turns.map((turn) => {
    const { sources, tools } = notesOf(turn)
    const notes = sources.map((one) => `<li>${escaped(one)}</li>`).join('')
    return (
      `<section><h2><time datetime="${turn.created_at}">${turn.created_at}</time></h2>` +
      `<blockquote>${escaped(turn.user_text)}</blockquote><p>${escaped(turn.reply)}</p>` +
      (tools.length > 0 ? `<p>🔧 ${tools.map(escaped).join(', ')}</p>` : '') +
      (notes === '' ? '' : `<ol>${notes}</ol>`) +
      '</section>'
    )
  })
  return (
    `<!doctype html><html><head><meta charset="utf-8"><title>${escaped(title)}</title>` +
    `<style>${STYLE}</style></head><body><h1>${escaped(title)}</h1>` +
    `${parts.join('')}</body></html>\n`
  )
}
