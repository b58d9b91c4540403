import { Parser } from 'htmlparser2'
import type { Piece } from './blocks.ts'
import { tableLine } from './tables.ts'

const SKIPPED = new Set(
  (
    'script style noscript template svg math iframe object select nav dialog header footer aside ' +
    'form button'
  ).split(' '),
)
const BLOCKS = new Set(
  (
    'address article blockquote body br caption dd details div dl dt fieldset figcaption figure ' +
    'hr li main ol p pre section summary ul'
  ).split(' '),
)
const HEADING = /^h([1-6])$/
/** Longer cells belong to a table that only lays out the page. */
const CELL_CHARS_MAX = 500

export interface Page {
  readonly title: string | null
  readonly pieces: readonly Piece[]
}

/**
 * What a person reads of an HTML page: headings, paragraphs, lists, and tables as rows. Left out
 * are scripts, navigation, forms and what is hidden.
 */
export function readHtml(html: string, heading: string | null = null): Page {
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
        if (skippedAt === null && (SKIPPED.has(name) || isHidden(attributes))) skippedAt = depth
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

/** Turns elements into pieces. */
function createWriter(heading: string | null) {
  const out = createOutput(heading)
  const tables = createTables(out)
  return {
    open(name: string): void {
      const divides = BLOCKS.has(name) || HEADING.test(name)
      if (tables.open(name)) return
      if (divides && tables.inCell()) out.add('\n\n')
      else if (name === 'br') out.add('\n')
      else if (divides && !out.isMark()) out.flush()
      if (name === 'li') out.add('- ')
    },
    text: out.add,
    close(name: string): void {
      const level = HEADING.exec(name)?.[1]
      if (tables.close(name)) return
      if (tables.inCell()) out.add(BLOCKS.has(name) ? '\n\n' : '')
      else if (level) out.endHeading(Number(level))
      else if (BLOCKS.has(name) && name !== 'br') out.flush()
    },
    end(): readonly Piece[] {
      tables.end()
      out.flush()
      return out.pieces
    },
  }
}

type Output = ReturnType<typeof createOutput>

/** Pieces, and the text of the block or cell that is open. */
function createOutput(first: string | null) {
  const pieces: Piece[] = []
  let heading = first
  let text = ''
  function write(block: string): void {
    const lines = block.split('\n').map((line) => line.trimEnd())
    const written = lines
      .join('\n')
      .replace(/^ (?=\S)/gm, '')
      .trim()
    if (written !== '' && written !== '-') pieces.push({ text: written, heading })
  }
  function take(): string {
    const taken = text
    text = ''
    return taken
  }
  return {
    pieces,
    write,
    take,
    add(data: string): void {
      text += data
    },
    /** A list item has begun, and its text comes in a paragraph. */
    isMark: () => text.trim() === '-',
    flush: () => write(take()),
    endHeading(level: number): void {
      const words = take().replace(/\s+/g, ' ').trim()
      if (words === '') return
      heading = words
      write(`${'#'.repeat(level)} ${words}`)
    },
  }
}

interface Table {
  cells: string[]
  lines: string[]
  /** Its cells hold tables or long text, so they are read one after another. */
  isLayout: boolean
}

/** Rows of tables, as lines. `open` and `close` tell whether the element is part of a table. */
function createTables(out: Output) {
  const tables: Table[] = []
  let inCell = false

  function endCell(): void {
    const table = tables.at(-1)
    if (!table || !inCell) return
    inCell = false
    const cell = out.take()
    if (cell.length > CELL_CHARS_MAX) table.isLayout = true
    table.cells.push(cell)
  }

  function endRow(): void {
    endCell()
    const table = tables.at(-1)
    if (!table) return
    const cells = table.cells.splice(0)
    if (!table.isLayout) {
      table.lines.push(tableLine(cells))
      return
    }
    endLines(table)
    for (const cell of cells) for (const block of cell.split(/\n{2,}/)) out.write(block)
  }

  function endLines(table: Table): void {
    out.write(table.lines.filter((line) => line !== '').join('\n'))
    table.lines = []
  }

  function endTable(): void {
    endRow()
    const table = tables.pop()
    if (table) endLines(table)
  }

  function openTable(): void {
    const outer = tables.at(-1)
    if (outer) outer.isLayout = true
    endRow()
    out.flush()
    tables.push({ cells: [], lines: [], isLayout: false })
  }

  function openCell(): void {
    endCell()
    out.flush()
    inCell = tables.length > 0
  }

  const opened = new Map([
    ['table', openTable],
    ['tr', endRow],
    ['td', openCell],
    ['th', openCell],
  ])
  const closed = new Map([
    ['table', endTable],
    ['tr', endRow],
    ['td', endCell],
    ['th', endCell],
  ])
  const run = (action: (() => void) | undefined) => {
    action?.()
    return action !== undefined
  }
  return {
    inCell: () => inCell,
    open: (name: string) => run(opened.get(name)),
    close: (name: string) => run(closed.get(name)),
    end(): void {
      while (tables.length > 0) endTable()
    },
  }
}
