import { type Archive, openArchive } from './archive.ts'
import type { Reading } from './blocks.ts'
import { openOffice, type Relations } from './office.ts'
import { createWriter } from './writer.ts'
import { type Attributes, attribute, readXml, type XmlHandler } from './xml.ts'

/** The text of a Word document: headings, lists, tables as rows, notes under their paragraph. */
export async function readDocx(bytes: Uint8Array): Promise<Reading> {
  const archive = openArchive(bytes)
  const { main, relations, title } = await openOffice(archive, 'word/document.xml')
  const tagOf = await stylesIn(archive, relations)
  const notes = new Map([
    ...(await notesIn(archive, relations, 'footnote')),
    ...(await notesIn(archive, relations, 'endnote')),
  ])
  const writer = createWriter()
  const write = (tag: string, text: string) => {
    writer.open(tag)
    writer.text(text)
    writer.close(tag)
  }
  let noteCount = 0
  const handler = createParagraphs(tagOf, {
    open: writer.open,
    close: writer.close,
    paragraph({ tag, text, noteIds }) {
      write(
        tag,
        text.replace(NOTE_MARK, () => `[${++noteCount}]`),
      )
      const first = noteCount - noteIds.length
      for (const [i, id] of noteIds.entries())
        write('p', `[${first + i + 1}] ${notes.get(id) ?? ''}`)
    },
  })
  await readXml(archive, main, handler)
  return { title, pages: null, pieces: writer.end() }
}

/** Stands for a note until its number is known; cannot occur in XML. */
const NOTE_MARK = /\0/g

interface Paragraph {
  /** The HTML element that corresponds to it. */
  readonly tag: string
  readonly text: string
  /** Ids of the notes that it refers to. */
  readonly noteIds: readonly string[]
}

interface ParagraphSink {
  /** Opens a table, row or cell, by its HTML name. */
  open(tag: string): void
  close(tag: string): void
  paragraph(paragraph: Paragraph): void
}

const TABLE_TAGS = new Map([
  ['tbl', 'table'],
  ['tr', 'tr'],
  ['tc', 'td'],
])
/** Deleted or moved text, and the replacement of a text box for older programs. */
const SKIPPED = new Set(['del', 'moveFrom', 'Fallback'])
const SIGNS = new Map([
  ['tab', '\t'],
  ['br', '\n'],
  ['cr', '\n'],
  ['noBreakHyphen', '-'],
])

/** The paragraphs of a part of a Word document. A text box has paragraphs inside a paragraph. */
function createParagraphs(tagOf: TagOf, sink: ParagraphSink): XmlHandler {
  const open: { text: string; tag: string | null; isItem: boolean; noteIds: string[] }[] = []
  let skipped = 0
  let isText = false
  /** Open runs: tabs and breaks are characters only inside a run. */
  let runs = 0
  let isHidden = false
  return {
    open(name, attributes) {
      if (SKIPPED.has(name)) skipped++
      if (skipped > 0) return
      const paragraph = open.at(-1)
      const value = attribute(attributes, 'val')
      if (name === 'p') open.push({ text: '', tag: 'p', isItem: false, noteIds: [] })
      else if (name === 'r') runs++
      else if (name === 'vanish') isHidden = runs > 0 && isOn(value)
      else if (name === 't') isText = true
      else if (TABLE_TAGS.has(name)) sink.open(TABLE_TAGS.get(name) ?? '')
      else if (!paragraph) return
      else if (name === 'pStyle') paragraph.tag = tagOf(value)
      else if (name === 'outlineLvl') paragraph.tag = headingTag(Number(value) + 1) ?? paragraph.tag
      else if (name === 'numPr') paragraph.isItem = true
      else if (runs > 0 && SIGNS.has(name)) paragraph.text += SIGNS.get(name)
      else if (name === 'footnoteReference' || name === 'endnoteReference') {
        paragraph.noteIds.push(noteKey(name.replace('Reference', ''), attributes))
        paragraph.text += '\0'
      }
    },
    text(data) {
      const paragraph = open.at(-1)
      if (paragraph && isText && skipped === 0 && !isHidden) paragraph.text += data
    },
    close(name) {
      if (SKIPPED.has(name)) skipped--
      else if (skipped > 0) return
      else if (name === 't') isText = false
      else if (name === 'r') {
        runs--
        isHidden = false
      } else if (TABLE_TAGS.has(name)) sink.close(TABLE_TAGS.get(name) ?? '')
      else if (name === 'p') {
        const { tag, text, isItem, noteIds } = open.pop() ?? { text: '', noteIds: [] }
        if (tag) sink.paragraph({ tag: isItem && tag === 'p' ? 'li' : tag, text, noteIds })
      }
    },
  }
}

/** `<w:b/>` is on, `<w:b w:val="0"/>` is off. */
const isOn = (value: string | undefined) => !['0', 'false', 'off'].includes(value ?? '')

const noteKey = (kind: string, attributes: Attributes) =>
  `${kind} ${attribute(attributes, 'id') ?? ''}`

/** The notes of a kind by `noteKey`. */
async function notesIn(archive: Archive, relations: Relations, kind: 'footnote' | 'endnote') {
  const notes = new Map<string, string>()
  const part = relations.ofKind(`${kind}s`)
  if (part === null) return notes
  let key = ''
  const paragraphs = createParagraphs(() => 'p', {
    open() {},
    close() {},
    paragraph({ text }) {
      const known = notes.get(key)
      notes.set(key, `${known ? `${known}\n` : ''}${text.replace(NOTE_MARK, '').trim()}`)
    },
  })
  await readXml(archive, part, {
    ...paragraphs,
    open(name, attributes) {
      if (name === kind) key = noteKey(kind, attributes)
      paragraphs.open?.(name, attributes)
    },
  })
  return notes
}

/** The HTML element for paragraphs of a style; null for those that are left out. */
type TagOf = (styleId: string | undefined) => string | null

const headingTag = (level: number) => (level >= 1 && level <= 9 ? `h${Math.min(level, 6)}` : null)

/**
 * Finds headings by the names of styles, which are English in every language, or by their outline
 * level; a style without either inherits it from its base style. In Chinese Word the id of a style
 * is `1` and its name `heading 1`. Lines of a table of contents are left out.
 */
async function stylesIn(archive: Archive, relations: Relations): Promise<TagOf> {
  const tags = new Map<string, string | null>()
  const bases = new Map<string, string>()
  const part = relations.ofKind('styles')
  let id = ''
  if (part !== null) {
    await readXml(archive, part, {
      open(name, attributes) {
        const value = attribute(attributes, 'val') ?? ''
        if (name === 'style') id = attribute(attributes, 'styleId') ?? ''
        else if (name === 'basedOn') bases.set(id, value)
        else if (name === 'name' && /^toc \d$/i.test(value)) tags.set(id, null)
        else if (name === 'name' && /^title$/i.test(value)) tags.set(id, 'h1')
        else if (name === 'name' || name === 'outlineLvl') {
          const [, level] = /^heading (\d)$/i.exec(value) ?? []
          const tag = headingTag(name === 'name' ? Number(level) : Number(value) + 1)
          if (tag && !tags.has(id)) tags.set(id, tag)
        }
      },
    })
  }
  return (styleId) => {
    let style = styleId
    for (let i = 0; style !== undefined && i < BASES_MAX; i++) {
      const tag = tags.get(style)
      if (tag !== undefined) return tag
      style = bases.get(style)
    }
    return 'p'
  }
}

/** Limits the chain of base styles, because a style may be based on itself. */
const BASES_MAX = 10
