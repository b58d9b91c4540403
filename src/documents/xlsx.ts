import { DOCUMENT_CELLS_MAX } from '../core/limits/machine.ts'
import { ParseFailure } from '../upstream/ports/parser.ts'
import { type Archive, openArchive } from './archive.ts'
import type { Piece, Reading } from './blocks.ts'
import { openOffice, type Relations } from './office.ts'
import { type TableRow, tableRows } from './tables.ts'
import { type NumberStyle, numberStylesIn, shownNumber } from './xlsx-values.ts'
import { attribute, readXml, relationId } from './xml.ts'

/** The tables of a workbook: each sheet is a heading, each row as `header: value; …`. */
export async function readXlsx(bytes: Uint8Array): Promise<Reading> {
  const archive = openArchive(bytes)
  const { main, relations, title } = await openOffice(archive, 'xl/workbook.xml')
  return { title, pages: null, pieces: sheetPieces(archive, main, relations) }
}

interface Sheet {
  readonly name: string
  readonly part: string
}

async function* sheetPieces(
  archive: Archive,
  main: string,
  relations: Relations,
): AsyncGenerator<Piece> {
  const sheets: Sheet[] = []
  let is1904 = false
  await readXml(archive, main, {
    open(name, attributes) {
      const isShown = (attribute(attributes, 'state') ?? 'visible') === 'visible'
      const part = name === 'sheet' && isShown ? relations.byId(relationId(attributes)) : null
      if (part !== null) sheets.push({ name: attribute(attributes, 'name') ?? '', part })
      if (name === 'workbookPr') is1904 = /^(1|true)$/.test(attribute(attributes, 'date1904') ?? '')
    },
  })
  const strings = relations.ofKind('sharedStrings')
  const styles = relations.ofKind('styles')
  const book: Book = {
    strings: strings ? await stringsIn(archive, strings) : [],
    styles: styles ? await numberStylesIn(archive, styles) : [],
    is1904,
    cells: 0,
  }
  for (const { name, part } of sheets) {
    const rows = await rowsIn(archive, part, book)
    if (rows.length > 0) yield { text: `## ${name}`, heading: name }
    for (const row of tableRows(rows)) yield { ...row, heading: name }
  }
}

interface Book {
  readonly strings: readonly string[]
  readonly styles: readonly NumberStyle[]
  readonly is1904: boolean
  /** Non-empty cells so far. */
  cells: number
}

/** Texts that cells refer to by index, without phonetic readings of Japanese words. */
async function stringsIn(archive: Archive, part: string): Promise<string[]> {
  const strings: string[] = []
  let text = ''
  let isText = false
  let isReading = false
  await readXml(archive, part, {
    open(name) {
      if (name === 'si') text = ''
      else if (name === 't') isText = !isReading
      else if (name === 'rPh') isReading = true
    },
    text(data) {
      if (isText) text += data
    },
    close(name) {
      if (name === 'si') strings.push(text)
      else if (name === 't') isText = false
      else if (name === 'rPh') isReading = false
    },
  })
  return strings
}

/** The non-empty rows of a sheet; a merged cell is in each of its rows. */
async function rowsIn(archive: Archive, part: string, book: Book): Promise<TableRow[]> {
  const rows = new Map<number, Map<number, string>>()
  const merges: string[] = []
  let row = new Map<number, string>()
  let number = 0
  let cell = { column: -1, type: '', style: 0, text: '' }
  let isValue = false
  await readXml(archive, part, {
    open(name, attributes) {
      if (name === 'row') {
        row = new Map()
        number = Number(attribute(attributes, 'r') ?? number + 1)
        cell = { ...cell, column: -1 }
      } else if (name === 'c') {
        cell = {
          column: columnOf(attribute(attributes, 'r')) ?? cell.column + 1,
          type: attribute(attributes, 't') ?? 'n',
          style: Number(attribute(attributes, 's') ?? 0),
          text: '',
        }
      } else if (name === 'v' || name === 't') isValue = true
      else if (name === 'mergeCell' && merges.length < DOCUMENT_CELLS_MAX) {
        merges.push(attribute(attributes, 'ref') ?? '')
      }
    },
    text(data) {
      if (isValue) cell.text += data
    },
    close(name) {
      if (name === 'v' || name === 't') isValue = false
      else if (name === 'row' && row.size > 0) rows.set(number, row)
      else if (name === 'c') {
        const text = shown(cell, book).trim()
        if (text === '') return
        if (++book.cells > DOCUMENT_CELLS_MAX) throw new ParseFailure('too_long')
        row.set(cell.column, text)
      }
    },
  })
  for (const merge of merges) fillDown(rows, merge)
  return [...rows.values()]
}

const MERGED_ROWS_MAX = 200

/** Copies a merged value to each of its rows, except empty rows. */
function fillDown(rows: ReadonlyMap<number, Map<number, string>>, merge: string): void {
  const [, from, to] = /^[A-Z]{1,3}(\d{1,7}):[A-Z]{1,3}(\d{1,7})$/i.exec(merge) ?? []
  const column = columnOf(merge)
  const text = column === null ? undefined : rows.get(Number(from))?.get(column)
  if (column === null || text === undefined) return
  const last = Math.min(Number(to), Number(from) + MERGED_ROWS_MAX)
  for (let number = Number(from) + 1; number <= last; number++) {
    const row = rows.get(number)
    if (row && !row.has(column)) row.set(column, text)
  }
}

/** The column of an address such as `AB12`, from 0. */
function columnOf(address: string | undefined): number | null {
  const letters = /^([A-Z]{1,3})\d/i.exec(address ?? '')?.[1]?.toUpperCase()
  if (letters === undefined) return null
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1
}

interface Cell {
  readonly type: string
  readonly style: number
  readonly text: string
}

function shown({ type, style, text }: Cell, { strings, styles, is1904 }: Book): string {
  if (text === '') return ''
  if (type === 's') return strings[Number(text)] ?? ''
  if (type === 'b') return text === '1' ? 'TRUE' : 'FALSE'
  return type === 'n' ? shownNumber(text, styles[style] ?? 'number', is1904) : text
}
