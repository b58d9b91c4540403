import { Parser } from 'htmlparser2'
import type { Piece } from './blocks.ts'
import { createWriter } from './writer.ts'

const SKIPPED =
  'script style noscript template svg math iframe object select nav dialog form button'.split(' ')
/** Elements around the text of a web page; in a book they belong to the text. */
const AROUND = 'header footer aside'.split(' ')

export interface Page {
  readonly title: string | null
  readonly pieces: readonly Piece[]
}

/**
 * The text of an HTML page: headings, paragraphs, lists, and tables as rows. Leaves out scripts,
 * navigation, forms and hidden elements.
 */
export const readHtml = (html: string): Page => read(html, new Set([...SKIPPED, ...AROUND]), null)

/** The same for a page of a book, which begins under a heading of the table of contents. */
export const readBookPage = (html: string, heading: string | null): readonly Piece[] =>
  read(html, new Set(SKIPPED), heading).pieces

function read(html: string, left: ReadonlySet<string>, heading: string | null): Page {
  const writer = createWriter(heading)
  let title = ''
  let titles = 0
  let isTitle = false
  let preformatted = 0
  let depth = 0
  /** The depth of the outermost element that is left out. */
  let skippedAt: number | null = null
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        depth++
        isTitle = name === 'title' && titles++ === 0
        if (skippedAt === null && (left.has(name) || isHidden(attributes))) skippedAt = depth
        if (skippedAt !== null) return
        if (name === 'pre') preformatted++
        writer.open(name)
      },
      ontext(data) {
        if (isTitle) title += data
        else if (skippedAt === null)
          writer.text(preformatted > 0 ? data : data.replace(/\s+/g, ' '))
      },
      onclosetag(name) {
        isTitle = false
        if (skippedAt === null) {
          if (name === 'pre') preformatted = Math.max(0, preformatted - 1)
          writer.close(name)
        }
        if (skippedAt === depth) skippedAt = null
        depth--
      },
    },
    { recognizeSelfClosing: true },
  )
  parser.end(html)
  return { title: title.replace(/\s+/g, ' ').trim() || null, pieces: writer.end() }
}

const isHidden = ({ hidden, style = '' }: Readonly<Record<string, string>>) =>
  hidden !== undefined || /(?:^|;)\s*display\s*:\s*none/i.test(style)
