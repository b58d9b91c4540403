import type { TranscriptTurn } from './model.ts'

/** How a conversation is written, part by part. */
export interface Form {
  head(named: { readonly session_id: string; readonly title: string }): string
  /** `at` is how many turns came before. */
  turn(turn: TranscriptTurn, at: number): string
  foot(count: number): string
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

const MARKDOWN: Form = {
  head: ({ title }) => `# ${inline(title)}`,
  turn(turn) {
    const { sources, tools } = notesOf(turn)
    const notes = [
      ...(tools.length > 0 ? [`🔧 ${tools.map(inline).join(', ')}`] : []),
      ...sources.map((one, i) => `${i + 1}. ${inline(one)}`),
    ]
    const quoted = turn.user_text.split('\n').map((line) => `> ${line}`)
    return ['', `## ${turn.created_at}`, quoted.join('\n'), turn.reply, ...notes].join('\n\n')
  },
  foot: () => '\n',
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

const HTML: Form = {
  head: ({ title }) =>
    `<!doctype html><html><head><meta charset="utf-8"><title>${escaped(title)}</title>` +
    `<style>${STYLE}</style></head><body><h1>${escaped(title)}</h1>`,
  turn(turn) {
    const { sources, tools } = notesOf(turn)
    const notes = sources.map((one) => `<li>${escaped(one)}</li>`).join('')
    return (
      `<section><h2><time datetime="${turn.created_at}">${turn.created_at}</time></h2>` +
      `<blockquote>${escaped(turn.user_text)}</blockquote><p>${escaped(turn.reply)}</p>` +
      (tools.length > 0 ? `<p>🔧 ${tools.map(escaped).join(', ')}</p>` : '') +
      (notes === '' ? '' : `<ol>${notes}</ol>`) +
      '</section>'
    )
  },
  foot: () => '</body></html>\n',
}

/** Indented, as people look at it. */
const JSON_FORM: Form = {
  head: ({ session_id, title }) =>
    `{\n  "session_id": ${JSON.stringify(session_id)},\n` +
    `  "title": ${JSON.stringify(title)},\n  "turns": [`,
  turn: (turn, at) =>
    `${at === 0 ? '' : ','}\n    ${JSON.stringify(turn, null, 2).replaceAll('\n', '\n    ')}`,
  foot: (count) => (count === 0 ? ']\n}' : '\n  ]\n}'),
}

export const FORMS = { md: MARKDOWN, json: JSON_FORM, html: HTML } as const
