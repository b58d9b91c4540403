import type { Piece } from './blocks.ts'
import { tableLine } from './tables.ts'

const BLOCKS = new Set(
  (
    'address article blockquote body br caption dd details div dl dt fieldset figcaption figure ' +
    'hr li main ol p pre section summary ul'
  ).split(' '),
)
const HEADING = /^h([1-6])$/
/** A table with longer cells is a layout table. */
const CELL_CHARS_MAX = 500

/** Turns elements, by their HTML names, into pieces. */
export function createWriter(heading: string | null = null) {
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
      else if (name === 'pre') out.endCode()
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
      .replace(/^- +/, '- ')
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
    /** Whether a list item has begun and its text comes in a paragraph. */
    isMark: () => text.trim() === '-',
    flush: () => write(take()),
    /** Ends code, in which Markdown characters have no meaning. */
    endCode(): void {
      const code = take().replace(/^\n+|\s+$/g, '')
      if (code !== '') pieces.push({ text: `\`\`\`\n${code}\n\`\`\``, heading })
    },
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
  /** Whether its cells hold tables or long text, so that they are read one after another. */
  isLayout: boolean
}

/** Writes rows of tables as lines. `open` and `close` return whether the element is part of one. */
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
