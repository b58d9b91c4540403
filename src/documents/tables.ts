import { ParseFailure } from '../channels/ports/parser.ts'
import { DOCUMENT_CELLS_MAX } from '../core/limits/machine.ts'
import type { Piece } from './blocks.ts'

/**
 * A row as `header: value; …`, which can be understood without the rows around it. Empty cells are
 * left out.
 */
function rowText(header: readonly string[], row: readonly string[]): string {
  const cells = Array.from(row, (value, i) => [oneLine(header[i] ?? ''), oneLine(value ?? '')])
  return cells
    .filter(([, value]) => value !== '')
    .map(([name, value]) => (name === '' ? value : `${name}: ${value}`))
    .join('; ')
}

/** A row of a table in a text, as in Markdown. A single cell is a paragraph. */
export function tableLine(cells: readonly string[]): string {
  const texts = cells.map((cell) => oneLine(cell).replaceAll('|', '\\|'))
  if (texts.every((text) => text === '')) return ''
  return texts.length === 1 ? (texts[0] ?? '') : `| ${texts.join(' | ')} |`
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim()

/** The rows of comma-, semicolon- or tab-separated values (RFC 4180) under the first one. */
export function* readCsv(text: string): Generator<Piece> {
  let header: readonly string[] | null = null
  let alone = true
  for (const row of csvRows(text, separatorOf(text))) {
    if (row.every((cell) => cell.trim() === '')) continue
    if (header === null) {
      header = row
      continue
    }
    alone = false
    yield { text: rowText(header, row) }
  }
  if (header && alone) yield { text: tableLine(header) }
}

/** The one that stands most often in the first line. */
function separatorOf(text: string): string {
  const [line = ''] = text
    .slice(0, 10_000)
    .replace(/"[^"]*"/g, '')
    .trimStart()
    .split(/[\r\n]/, 1)
  const counts = [',', '\t', ';'].map((mark) => ({ mark, count: line.split(mark).length }))
  return counts.reduce((best, next) => (next.count > best.count ? next : best)).mark
}

function* csvRows(text: string, separator: string): Generator<string[]> {
  const plain = new RegExp(`[^${separator}\r\n]*`, 'y')
  let row: string[] = []
  for (let at = 0; at <= text.length; ) {
    let cell = ''
    if (text[at] === '"') {
      const end = quoteEnd(text, at + 1)
      cell = text.slice(at + 1, end).replaceAll('""', '"')
      at = end + 1
    }
    // What stands between a closing quote and the next separator is kept.
    plain.lastIndex = at
    cell += plain.exec(text)?.[0] ?? ''
    at = plain.lastIndex
    row.push(cell)
    if (row.length > DOCUMENT_CELLS_MAX) throw new ParseFailure('too_long')
    if (text[at] !== separator) {
      yield row
      row = []
    }
    at += text.startsWith('\r\n', at) ? 2 : 1
  }
}

/** Of the closing quote; two quotes are one inside. An unclosed quotation ends with the text. */
function quoteEnd(text: string, from: number): number {
  let end = text.indexOf('"', from)
  while (end >= 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2)
  return end < 0 ? text.length : end
}
