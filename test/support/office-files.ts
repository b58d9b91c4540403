import { type ZipContents, zipFile } from './zip-file.ts'

/** Writes office files and books with as little in them as programs accept. */

type Files = Readonly<Record<string, ZipContents>>

const RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships'
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
export const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'

/** `targets`: kind and address by id. */
export function relations(targets: Readonly<Record<string, readonly [string, string]>>): string {
  const items = Object.entries(targets).map(
    ([id, [kind, target]]) =>
      `<Relationship Id="${id}" Type="${OFFICE}/${kind}" Target="${target}"/>`,
  )
  return `${XML}<Relationships xmlns="${RELATIONS}">${items.join('')}</Relationships>`
}

const TYPES = 'http://schemas.openxmlformats.org/package/2006/content-types'

const officeFile = (main: string, files: Files) =>
  zipFile({
    '[Content_Types].xml': `${XML}<Types xmlns="${TYPES}"/>`,
    '_rels/.rels': relations({ rId1: ['officeDocument', main] }),
    ...files,
  })

const W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'

/** `style`: the id of a paragraph style; Chinese Word has `1` for the first heading. */
export const paragraph = (text: string, style?: string) =>
  `<w:p>${style ? `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>` : ''}` +
  `<w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`

export const wordTable = (rows: readonly (readonly string[])[]) => {
  const cells = (row: readonly string[]) =>
    row.map((cell) => `<w:tc>${paragraph(cell)}</w:tc>`).join('')
  return `<w:tbl>${rows.map((row) => `<w:tr>${cells(row)}</w:tr>`).join('')}</w:tbl>`
}

/** A Word document; its styles are those of Chinese Word. */
export const docxFile = (body: string, more: Files = {}, main = 'word/document.xml') =>
  officeFile(main, {
    [main]: `${XML}<w:document ${W}><w:body>${body}</w:body></w:document>`,
    'word/_rels/document.xml.rels': relations({
      rId1: ['styles', 'styles.xml'],
      rId2: ['footnotes', 'footnotes.xml'],
    }),
    'word/styles.xml':
      `${XML}<w:styles ${W}>` +
      '<w:style w:type="paragraph" w:styleId="1"><w:name w:val="heading 1"/></w:style>' +
      '<w:style w:type="paragraph" w:styleId="2"><w:name w:val="heading 2"/></w:style>' +
      '<w:style w:type="paragraph" w:styleId="a5"><w:name w:val="我的标题"/>' +
      '<w:basedOn w:val="2"/></w:style>' +
      '<w:style w:type="paragraph" w:styleId="TOC1"><w:name w:val="toc 1"/></w:style></w:styles>',
    'word/footnotes.xml':
      `${XML}<w:footnotes ${W}><w:footnote w:id="2">${paragraph('见附录。')}</w:footnote>` +
      '</w:footnotes>',
    ...more,
  })

const A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
const P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
const R = `xmlns:r="${OFFICE}"`

/** `kind`: of a placeholder, such as `title`. */
export const shape = (text: string, kind?: string) =>
  `<p:sp><p:nvSpPr><p:nvPr>${kind ? `<p:ph type="${kind}"/>` : ''}</p:nvPr></p:nvSpPr><p:txBody>` +
  `${text
    .split('\n')
    .map((line) => `<a:p><a:r><a:t>${line}</a:t></a:r></a:p>`)
    .join('')}</p:txBody></p:sp>`

export interface Slide {
  /** Shapes and tables. */
  readonly body: string
  readonly notes?: string
}

/** The files of the slides are named against their order, as after moving slides. */
export function pptxFile(slides: readonly Slide[]): Uint8Array {
  const files: Record<string, string> = {}
  const targets: Record<string, readonly [string, string]> = {}
  for (const [i, { body, notes }] of slides.entries()) {
    const number = slides.length - i
    targets[`rId${i + 10}`] = ['slide', `slides/slide${number}.xml`]
    files[`ppt/slides/slide${number}.xml`] =
      `${XML}<p:sld ${A} ${P}><p:cSld><p:spTree>${body}</p:spTree></p:cSld></p:sld>`
    if (notes === undefined) continue
    files[`ppt/slides/_rels/slide${number}.xml.rels`] = relations({
      rId1: ['notesSlide', `../notesSlides/notes${number}.xml`],
    })
    files[`ppt/notesSlides/notes${number}.xml`] =
      `${XML}<p:notes ${A} ${P}>${shape('7', 'sldNum')}${shape(notes, 'body')}</p:notes>`
  }
  const ids = slides.map((_, i) => `<p:sldId id="${256 + i}" r:id="rId${i + 10}"/>`)
  const list = `<p:sldIdLst>${ids.join('')}</p:sldIdLst>`
  return officeFile('ppt/presentation.xml', {
    'ppt/presentation.xml': `${XML}<p:presentation ${P} ${R}>${list}</p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relations(targets),
    ...files,
  })
}

/** `sheets`: the XML inside `worksheet` by name. `strings`: the shared ones. */
export function xlsxFile(
  sheets: Readonly<Record<string, ZipContents>>,
  strings: readonly string[] = [],
  formats = '',
): Uint8Array {
  const names = Object.keys(sheets)
  const parts = names.map((name, i) => [`xl/worksheets/sheet${i + 1}.xml`, sheets[name] ?? ''])
  const list = names.map(
    (name, i) => `<sheet name="${name}" sheetId="${i + 1}" r:id="rId${i + 1}"/>`,
  )
  const items = strings.map((text) => `<si><t>${text}</t></si>`)
  return officeFile('xl/workbook.xml', {
    'xl/workbook.xml': `${XML}<workbook ${R}><sheets>${list.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations({
      ...Object.fromEntries(
        names.map(
          (_, i) => [`rId${i + 1}`, ['worksheet', `worksheets/sheet${i + 1}.xml`]] as const,
        ),
      ),
      strings: ['sharedStrings', 'sharedStrings.xml'],
      styles: ['styles', 'styles.xml'],
    }),
    'xl/sharedStrings.xml': `${XML}<sst>${items.join('')}</sst>`,
    'xl/styles.xml': `${XML}<styleSheet>${formats}</styleSheet>`,
    ...Object.fromEntries(parts),
  })
}

/** A sheet of texts, as a workbook has it without shared strings. */
export function sheet(rows: readonly (readonly string[])[], more = ''): string {
  const cell = (text: string, row: number, column: number) => {
    const address = `${String.fromCharCode(65 + column)}${row + 1}`
    return text && `<c r="${address}" t="inlineStr"><is><t>${text}</t></is></c>`
  }
  const lines = rows.map(
    (cells, row) =>
      `<row r="${row + 1}">${cells.map((text, i) => cell(text, row, i)).join('')}</row>`,
  )
  return `${XML}<worksheet><sheetData>${lines.join('')}</sheetData>${more}</worksheet>`
}

const PAGE = 'application/xhtml+xml'
const DC = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'

/** A book; `chapters`: XHTML bodies by their files, in reading order. */
export function epubFile(chapters: Readonly<Record<string, string>>, more: Files = {}): Uint8Array {
  const names = Object.keys(chapters)
  const href = (name: string) => `text/${encodeURIComponent(name)}`
  const items = names.map(
    (name) => `<item id="id-${name}" href="${href(name)}" media-type="${PAGE}"/>`,
  )
  const refs = names.map((name) => `<itemref idref="id-${name}"/>`)
  const links = names.map((name, i) => `<li><a href="${href(name)}#a">目录 ${i + 1}</a></li>`)
  const page = (body: string) =>
    `${XML}<!DOCTYPE html><html><head><title/></head><body>${body}</body></html>`
  return zipFile({
    mimetype: 'application/epub+zip',
    'META-INF/container.xml':
      '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
    // The list of files has another order than the book.
    'OEBPS/book.opf':
      `${XML}<package ${DC}><metadata><dc:title>猫的书</dc:title></metadata>` +
      `<manifest>${items.reverse().join('')}<item id="nav" href="nav.xhtml" properties="nav"/>` +
      `</manifest><spine><itemref idref="nav"/>${refs.join('')}</spine></package>`,
    'OEBPS/nav.xhtml': page(`<nav><ol>${links.join('')}</ol></nav>`),
    ...Object.fromEntries(names.map((name) => [`OEBPS/text/${name}`, page(chapters[name] ?? '')])),
    ...more,
  })
}
