import { DOCUMENT_PAGES_MAX } from '../core/limits/machine.ts'
import { ParseFailure } from '../upstream/ports/parser.ts'
import { type Archive, openArchive } from './archive.ts'
import type { Piece, Reading } from './blocks.ts'
import { openOffice, relationsOf } from './office.ts'
import { createWriter } from './writer.ts'
import { attribute, readXml, relationId } from './xml.ts'

/** The text of a presentation: the slides in order, each a page, with their notes. */
export async function readPptx(bytes: Uint8Array): Promise<Reading> {
  const archive = openArchive(bytes)
  const { main, relations, title } = await openOffice(archive, 'ppt/presentation.xml')
  const slides: string[] = []
  await readXml(archive, main, {
    open(name, attributes) {
      const part = name === 'sldId' ? relations.byId(relationId(attributes)) : null
      if (part !== null) slides.push(part)
    },
  })
  if (slides.length > DOCUMENT_PAGES_MAX) throw new ParseFailure('too_long')
  return { title, pages: slides.length, pieces: slidePieces(archive, slides) }
}

async function* slidePieces(archive: Archive, slides: readonly string[]): AsyncGenerator<Piece> {
  for (const [index, part] of slides.entries()) {
    const relations = await relationsOf(archive, part)
    const shapes = await shapesIn(archive, part)
    for (const diagram of relations.all('diagramData')) {
      shapes.push(...(await shapesIn(archive, diagram)))
    }
    const notes = relations.ofKind('notesSlide')
    if (notes) shapes.push(...(await shapesIn(archive, notes)).filter(({ isTitle }) => !isTitle))
    const title = shapes.find(({ isTitle, text }) => isTitle && text !== '')
    const heading = title?.text.replace(/\s+/g, ' ') ?? null
    const page = index + 1
    if (heading) yield { text: `## ${heading}`, page, heading }
    for (const shape of shapes) {
      for (const { text } of shape === title ? [] : shape.pieces) yield { text, page, heading }
    }
  }
}

interface Shape {
  readonly isTitle: boolean
  readonly pieces: readonly Piece[]
  /** The whole text of the shape. */
  readonly text: string
}

const TITLES = new Set(['title', 'ctrTitle'])
/** Placeholders with the same text on every slide. */
const REPEATED = new Set(['sldNum', 'dt', 'ftr', 'hdr', 'sldImg'])
const TABLE_TAGS = new Map([
  ['tbl', 'table'],
  ['tr', 'tr'],
  ['tc', 'td'],
  ['p', 'p'],
])

/** The texts of the shapes and tables of a slide, or of its notes. */
async function shapesIn(archive: Archive, part: string): Promise<Shape[]> {
  const shapes: Shape[] = []
  let writer = createWriter()
  let kind = ''
  let isText = false
  let skipped = 0
  function end(): void {
    const pieces = writer.end()
    const text = pieces.map(({ text }) => text).join('\n')
    if (!REPEATED.has(kind)) shapes.push({ isTitle: TITLES.has(kind), pieces, text })
    writer = createWriter()
    kind = ''
  }
  await readXml(archive, part, {
    open(name, attributes) {
      const tag = TABLE_TAGS.get(name)
      if (name === 'Fallback') skipped++
      else if (name === 'ph') kind = attribute(attributes, 'type') ?? 'body'
      else if (tag) writer.open(tag)
      else if (name === 't') isText = true
      else if (name === 'br') writer.text('\n')
    },
    text(data) {
      if (isText && skipped === 0) writer.text(data)
    },
    close(name) {
      const tag = TABLE_TAGS.get(name)
      if (name === 'Fallback') skipped--
      else if (name === 'sp' || name === 'graphicFrame') end()
      else if (tag) writer.close(tag)
      else if (name === 't') isText = false
    },
  })
  end()
  return shapes
}
