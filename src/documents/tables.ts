import { DOCUMENT_CELLS_MAX } from '../core/limits/machine.ts'
import { ParseFailure } from '../upstream/ports/parser.ts'
import type { Piece } from './blocks.ts'

/** The cells of a row that are not empty, by their columns from 0. */
export type TableRow = ReadonlyMap<number, string>

/** The header is among this many first rows. */
const HEADER_WITHIN = 50
/** A header has at least this share of the cells that most rows have. */
const HEADER_FILL = 0.7

/**
 * The rows of a table as `header: value; …`, so that each row can be understood without the others.
 * The header may have two rows and titles above it; a table of numbers has no header.
 */
export function* tableRows(rows: Iterable<TableRow>): Generator<Piece> {
  let first: TableRow[] | null = []
  let header = NO_HEADER
  for (const row of rows) {
    if (row.size === 0) continue
    if (first === null) yield { text: rowText(header, row) }
    else if (first.push(row) === HEADER_WITHIN) {
      header = yield* firstRows(first)
      first = null
    }
  }
  if (first) yield* firstRows(first)
}

function* firstRows(rows: readonly TableRow[]): Generator<Piece, TableRow> {
  const { header, above, below } = headerOf(rows)
  for (const row of rows.slice(0, above)) yield { text: rowText(NO_HEADER, row) }
  const isAlone = below === rows.length && header.size > 0
  if (isAlone) yield { text: rowText(NO_HEADER, header) }
  for (const row of rows.slice(below)) yield { text: rowText(header, row) }
  return header
}

const NO_HEADER: TableRow = new Map()

/** The header, and its first and last row. */
function headerOf(rows: readonly TableRow[]) {
  const typical = commonSize(rows)
  const at = rows.findIndex(({ size }) => size > 1 && size >= typical * HEADER_FILL)
  const row = rows[at]
  if (!row || [...row.values()].every(isNumber)) return { header: NO_HEADER, above: 0, below: 0 }
  const next = rows[at + 1]
  return next && row.size < typical && isBelow(row, next)
    ? { header: joined(row, next), above: at, below: at + 2 }
    : { header: row, above: at, below: at + 1 }
}

/**
 * Whether the row is a second row of the header: it only names columns that the first leaves open.
 */
function isBelow(header: TableRow, row: TableRow): boolean {
  const cells = [...row]
  const isNew = cells.some(([column]) => !header.has(column))
  return isNew && cells.every(([column, text]) => !isNumber(text) && isSame(header, column, text))
}

/** A cell that is merged over two rows is in both; one over two columns has others below it. */
const isSame = (header: TableRow, column: number, text: string) =>
  !header.has(column) || header.get(column) === text || !header.has(column + 1)

const isNumber = (text: string) => !Number.isNaN(Number(text))

/** How many cells most rows have. */
function commonSize(rows: readonly TableRow[]): number {
  const counts = new Map<number, number>()
  for (const { size } of rows) counts.set(size, (counts.get(size) ?? 0) + 1)
  const byCount = [...counts].sort(([sizeA, a], [sizeB, b]) => b - a || sizeB - sizeA)
  return byCount[0]?.[0] ?? 0
}

/** Joins two rows of a header: a name of the upper row covers the columns up to its next name. */
function joined(upper: TableRow, lower: TableRow): TableRow {
  const names = new Map<number, string>()
  let over = ''
  const columns = [...new Set([...upper.keys(), ...lower.keys()])].sort((a, b) => a - b)
  for (const column of columns) {
    over = upper.get(column) ?? over
    const under = lower.get(column) ?? over
    names.set(column, under === over ? over : `${over} ${under}`)
  }
  return names
}

function rowText(header: TableRow, row: TableRow): string {
  const sorted = [...row].sort(([a], [b]) => a - b)
  const cells = sorted.map(([column, value]) => {
    const name = header.get(column)
    return name === undefined ? oneLine(value) : `${oneLine(name)}: ${oneLine(value)}`
  })
  return cells.join('; ')
}

/** A row of a table in a text, as in Markdown. A single cell is a paragraph. */
export function tableLine(cells: readonly string[]): string {
  const texts = cells.map((cell) => oneLine(cell).replaceAll('|', '\\|'))
  if (texts.every((text) => text === '')) return ''
  return texts.length === 1 ? (texts[0] ?? '') : `| ${texts.join(' | ')} |`
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim()

/** The rows of comma-, semicolon- or tab-separated values (RFC 4180). */
export const readCsv = (text: string): Generator<Piece> =>
  tableRows(csvRows(text, separatorOf(text)))

/** The separator that occurs most often in the first line. */
function separatorOf(text: string): string {
  const [line = ''] = text
    .slice(0, 10_000)
    .replace(/"[^"]*"/g, '')
    .trimStart()
    .split(/[\r\n]/, 1)
  const counts = [',', '\t', ';'].map((mark) => ({ mark, count: line.split(mark).length }))
  return counts.reduce((best, next) => (next.count > best.count ? next : best)).mark
}

function* csvRows(text: string, separator: string): Generator<TableRow> {
  const plain = new RegExp(`[^${separator}\r\n]*`, 'y')
  let row = new Map<number, string>()
  for (let at = 0, column = 0; at <= text.length; column++) {
    let cell = ''
    if (text[at] === '"') {
      const end = quoteEnd(text, at + 1)
      cell = text.slice(at + 1, end).replaceAll('""', '"')
      at = Math.min(end + 1, text.length)
    }
    // Text between a closing quote and the next separator is kept.
    plain.lastIndex = at
    cell += plain.exec(text)?.[0] ?? ''
    at = plain.lastIndex
    if (cell.trim() !== '') row.set(column, cell)
    if (row.size > DOCUMENT_CELLS_MAX) throw new ParseFailure('too_long')
    if (text[at] !== separator) {
      yield row
      row = new Map()
      column = -1
    }
    at += text.startsWith('\r\n', at) ? 2 : 1
  }
}

/** The closing quote, where two quotes stand for one; an unclosed quotation ends with the text. */
function quoteEnd(text: string, from: number): number {
  let end = text.indexOf('"', from)
  while (end >= 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2)
  return end < 0 ? text.length : end
}
