import { afterAll, describe, expect, test } from 'bun:test'
import { deflateRawSync } from 'node:zlib'
import { openDocuments, readFile } from '../support/documents.ts'
import {
  docxFile,
  epubFile,
  paragraph,
  pptxFile,
  relations,
  shape,
  sheet,
  wordTable,
  XML,
  xlsxFile,
} from '../support/office-files.ts'
import { zipFile } from '../support/zip-file.ts'

const parser = openDocuments()
afterAll(() => parser.close())
const read = (name: string, bytes: Uint8Array) => readFile(parser, name, bytes)

/** The heading and text of each block. */
async function blocksOf(name: string, bytes: Uint8Array) {
  const { blocks } = await read(name, bytes)
  return blocks.map(({ heading, text }) => [heading, text])
}

describe('Word documents', () => {
  test('headings, lists, tables and notes are read in order', async () => {
    const note = '<w:p><w:r><w:t>保修两年</w:t><w:footnoteReference w:id="2"/></w:r></w:p>'
    const item = '<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>一</w:t><w:tab/><w:t>二</w:t></w:r></w:p>'
    const body = [
      paragraph('第一章 … 1', 'TOC1'),
      paragraph('使用说明', '1'),
      note,
      paragraph('清洁', 'a5'),
      item,
      wordTable([
        ['部件', '周期'],
        ['滤网', '每月'],
      ]),
    ]
    expect(await blocksOf('a.docx', docxFile(body.join('')))).toEqual([
      ['使用说明', '# 使用说明\n\n保修两年[1]\n\n[1] 见附录。'],
      ['清洁', '## 清洁\n\n- 一\t二\n\n| 部件 | 周期 |\n| 滤网 | 每月 |'],
    ])
  })

  test('deleted and hidden text is left out, and a text box is read once', async () => {
    const box = `<w:txbxContent>${paragraph('框里')}</w:txbxContent>`
    const body =
      '<w:p><w:del><w:r><w:delText>旧</w:delText></w:r></w:del><w:r><w:t>新</w:t></w:r>' +
      '<w:r><w:rPr><w:vanish/></w:rPr><w:t>隐</w:t></w:r><w:r>' +
      `<mc:AlternateContent><mc:Choice>${box}</mc:Choice><mc:Fallback>${box}</mc:Fallback>` +
      '</mc:AlternateContent></w:r></w:p>'
    expect((await read('a.docx', docxFile(body))).text).toBe('框里\n\n新')
  })

  test('the main part may have any name', async () => {
    const bytes = docxFile(paragraph('找到了'), {}, 'word/document2.xml')
    expect((await read('a.docx', bytes)).text).toBe('找到了')
  })

  test('entities of a document type are not read', async () => {
    const doctype =
      '<!DOCTYPE w:document [<!ENTITY x SYSTEM "file:///etc/passwd"><!ENTITY y "yyyy">]>'
    const run = '<w:r><w:t>前&x;&y;&amp;&#20013;后</w:t></w:r>'
    const document = `${XML}${doctype}<w:document><w:p>${run}</w:p></w:document>`
    const { text } = await read('a.docx', docxFile('', { 'word/document.xml': document }))
    expect(text).toBe('前&x;&y;&中后')
  })

  test('names that lead out of the archive lead nowhere', async () => {
    const bytes = docxFile(paragraph('正文'), {
      '../../../../etc/passwd': 'root',
      'word/_rels/document.xml.rels': relations({
        rId1: ['footnotes', '../../../../etc/passwd'],
      }),
    })
    expect((await read('a.docx', bytes)).text).toBe('正文')
  })

  test('elements in each other without end are too much', async () => {
    const bytes = docxFile(`${'<w:x>'.repeat(300)}${paragraph('深')}${'</w:x>'.repeat(300)}`)
    await expect(read('a.docx', bytes)).rejects.toMatchObject({ reason: 'too_long' })
  })
})

describe('archives', () => {
  test('an archive that unpacks to more than 64 MB is too long', async () => {
    const bytes = docxFile(paragraph('x'.repeat(70_000_000)))
    expect(bytes.length).toBeLessThan(200_000)
    await expect(read('a.docx', bytes)).rejects.toMatchObject({ reason: 'too_long' })
  })

  test('an archive of more than 10,000 files is too long', async () => {
    const files = Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [`x${i}`, '']))
    const bytes = docxFile(paragraph('x'), files)
    await expect(read('a.docx', bytes)).rejects.toMatchObject({ reason: 'too_long' })
  })

  test('an archive inside is not opened', async () => {
    const inner = docxFile(paragraph('里面'))
    const { text } = await read('a.docx', docxFile(paragraph('外面'), { 'word/a.docx': inner }))
    expect(text).toBe('外面')
  })

  test.each([
    ['cut off', (bytes: Uint8Array) => bytes.subarray(0, bytes.length - 100)],
    ['cut short', (bytes: Uint8Array) => bytes.subarray(0, 200)],
  ])('a document %s cannot be read', async (_, damage) => {
    const bytes = docxFile(paragraph('内容。'.repeat(500)))
    await expect(read('a.docx', damage(bytes))).rejects.toMatchObject({ reason: 'unreadable' })
  })

  test('an archive with a wrong checksum is damaged', async () => {
    const deflated = deflateRawSync('<w:document><w:p><w:r><w:t>x</w:t></w:r></w:p></w:document>')
    const bytes = docxFile('', { 'word/document.xml': { deflated, crc32: 1 } })
    await expect(read('a.docx', bytes)).rejects.toMatchObject({ reason: 'unreadable' })
  })

  test.each([
    ['an OpenDocument text', { mimetype: 'application/vnd.oasis.opendocument.text' }],
    ['a package of a program', { '[Content_Types].xml': '<Types/>', 'lib/a.dll': 'MZ' }],
    ['an archive of files', { 'a.txt': 'text' }],
  ])('%s is not supported', async (_, files) => {
    const reading = read('a.zip', zipFile(files))
    await expect(reading).rejects.toMatchObject({ reason: 'unsupported' })
  })
})

describe('presentations', () => {
  test('a slide is a page under its title, in order, with table and notes', async () => {
    const table =
      '<p:graphicFrame><a:tbl><a:tr><a:tc><a:p><a:r><a:t>年</a:t></a:r></a:p></a:tc>' +
      '<a:tc><a:p><a:r><a:t>额</a:t></a:r></a:p></a:tc></a:tr></a:tbl></p:graphicFrame>'
    const bytes = pptxFile([
      { body: shape('先写的框') + shape('开场', 'title') + shape('12', 'sldNum') },
      { body: shape('第二张\n两段') + table, notes: '这里停一下。' },
    ])
    const { info, blocks } = await read('a.pptx', bytes)
    expect(info.pages).toBe(2)
    expect(blocks.map(({ page, heading, text }) => [page, heading, text])).toEqual([
      [1, '开场', '## 开场\n\n先写的框'],
      [2, null, '第二张\n\n两段\n\n| 年 | 额 |\n\n这里停一下。'],
    ])
  })
})

describe('workbooks', () => {
  test('each sheet is a heading, each row has the words of the header', async () => {
    const rows = [['产品', '价格'], ['灯', '30 元'], [], ['风扇']]
    const bytes = xlsxFile({ 价目: sheet(rows), 空: sheet([]), 说明: sheet([['有效期一年']]) })
    expect(await blocksOf('a.xlsx', bytes)).toEqual([
      ['价目', '## 价目\n\n产品: 灯; 价格: 30 元\n\n产品: 风扇'],
      ['说明', '## 说明\n\n有效期一年'],
    ])
  })

  test('a title above, a header of two rows and merged cells are understood', async () => {
    const rows = [
      ['2026 年销售'],
      ['部门', '姓名', '销售额', ''],
      ['', '', '线上', '线下'],
      ['一部', '李雷', '10', '20'],
      ['', '韩梅', '30', '40'],
    ]
    const merged = '<mergeCells><mergeCell ref="A4:A5"/><mergeCell ref="A2:A3"/></mergeCells>'
    const { text } = await read('a.xlsx', xlsxFile({ 表: sheet(rows, merged) }))
    expect(text.split('\n\n').slice(1)).toEqual([
      '2026 年销售',
      '部门: 一部; 姓名: 李雷; 销售额 线上: 10; 销售额 线下: 20',
      '部门: 一部; 姓名: 韩梅; 销售额 线上: 30; 销售额 线下: 40',
    ])
  })

  test('dates, times, shares and shared texts are as people see them', async () => {
    const formats =
      '<numFmts><numFmt numFmtId="176" formatCode="yyyy&quot;年&quot;m&quot;月&quot;"/>' +
      '<numFmt numFmtId="177" formatCode="[Red]0.00&quot;days&quot;"/></numFmts><cellXfs>' +
      '<xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="176"/><xf numFmtId="20"/>' +
      '<xf numFmtId="10"/><xf numFmtId="22"/><xf numFmtId="177"/></cellXfs>'
    const values = ['0" t="s', '1" s="1', '1" s="2', '1" s="3', '1" s="4', '1" s="5', '1" s="6']
    const numbers = [
      '0',
      '45356',
      '45356',
      '0.3541666667',
      '0.155',
      '45356.75',
      '0.30000000000000004',
    ]
    const cells = values.map((attributes, i) => `<c x="${attributes}"><v>${numbers[i]}</v></c>`)
    const one = `<worksheet><sheetData><row>${cells.join('')}</row></sheetData></worksheet>`
    const { text } = await read('a.xlsm', xlsxFile({ 表: one }, ['共享&amp;的'], formats))
    expect(text).toBe(
      '## 表\n\n共享&的; 2024-03-05; 2024-03-05; 08:30; 15.5%; 2024-03-05 18:00; 0.3',
    )
  })

  test('a million empty cells cost nothing', async () => {
    const row = `<row>${'<c s="1"/>'.repeat(1_000)}</row>`
    const last = '<row><c t="inlineStr"><is><t>到底了</t></is></c></row>'
    const one = `<worksheet><sheetData>${row.repeat(1_000)}${last}</sheetData></worksheet>`
    expect((await read('a.xlsx', xlsxFile({ 表: one }))).text).toBe('## 表\n\n到底了')
  })

  test('more than 50,000 cells with something in them are too much', async () => {
    const row = `<row>${'<c><v>1</v></c>'.repeat(100)}</row>`
    const rows = (count: number) =>
      `<worksheet><sheetData>${row.repeat(count)}</sheetData></worksheet>`
    const most = await read('a.xlsx', xlsxFile({ 表: rows(500) }))
    expect(most.blocks.length).toBeGreaterThan(1)
    const reading = read('a.xlsx', xlsxFile({ 一: rows(300), 二: rows(201) }))
    await expect(reading).rejects.toMatchObject({ reason: 'too_long' })
  })
})

describe('books', () => {
  test('chapters come in the order of the book, under their titles', async () => {
    const bytes = epubFile({
      '第 一.xhtml': '<h2>猫来了</h2><p>它很&nbsp;小。</p><aside>注：幼猫。</aside>',
      'b.xhtml': '<p>没有标题的一章。</p>',
    })
    const { info } = await read('a.epub', bytes)
    expect(info).toMatchObject({ mediaType: 'application/epub+zip', title: '猫的书', pages: null })
    expect(await blocksOf('a.epub', bytes)).toEqual([
      ['猫来了', '## 猫来了\n\n它很 小。\n\n注：幼猫。'],
      ['目录 2', '没有标题的一章。'],
    ])
  })

  test('a book with copy protection is encrypted', async () => {
    const encryption =
      '<encryption><EncryptedData><CipherData><CipherReference URI="OEBPS/text/a.xhtml"/>' +
      '</CipherData></EncryptedData></encryption>'
    const bytes = epubFile({ 'a.xhtml': '\x01\x02' }, { 'META-INF/encryption.xml': encryption })
    await expect(read('a.epub', bytes)).rejects.toMatchObject({ reason: 'encrypted' })
  })
})
