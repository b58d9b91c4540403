import { afterAll, describe, expect, test } from 'bun:test'
import { fileKind } from '../../src/features/knowledge/sources/file-kind.ts'
import { ENDLESS_PAGE, openDocuments, readFile } from '../support/documents.ts'
import { zipFile } from '../support/zip-file.ts'

const parser = openDocuments()
afterAll(() => parser.close())
const read = (name: string, contents: Uint8Array | string, type?: string) =>
  readFile(parser, name, contents, type)

/** 中文测试，第二句。 in GB18030, which nothing here can write. */
const GB18030 = Buffer.from('d6d0ced0b2e2cad4a3acb5dab6febee4a1a3'.replace('ced0', 'cec4'), 'hex')
const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1')
const wide = (text: string) => Buffer.from(text, 'utf16le')

describe('encodings', () => {
  test.each([
    ['UTF-8', Buffer.from('中文测试，第二句。')],
    ['UTF-8 with its mark', Buffer.from('\ufeff中文测试，第二句。')],
    ['GB18030', GB18030],
    ['UTF-16 with its mark', wide('\ufeff中文测试，第二句。')],
    ['UTF-16 without a mark', wide('中文测试，第二句。')],
    ['UTF-16, high byte first', wide('中文测试，第二句。').swap16()],
  ])('a text in %s is read', async (_, bytes) => {
    const { info, text } = await read('笔记.txt', bytes)
    expect(info).toEqual({ type: 'info', mediaType: 'text/plain', title: null, pages: null })
    expect(text).toBe('中文测试，第二句。')
  })

  test('one damaged byte in UTF-8 does not make it another encoding', async () => {
    const bytes = Buffer.from('汉字'.repeat(500))
    bytes[4] = 0xff
    expect((await read('a.txt', bytes)).text).toContain('汉字汉字')
  })

  test('letters with accents are not taken for Chinese', async () => {
    const bytes = Buffer.from('Le café est à côté. Voilà la clé, très près.', 'latin1')
    expect((await read('a.txt', bytes)).text).toContain('café est à côté')
  })
})

describe('kinds of files', () => {
  test.each([
    ['a page under another name', 'notes.txt', '<!DOCTYPE html><p>x', 'text/html'],
    ['a page behind a comment', 'x', '<!-- c --><html><p>x', 'text/html'],
    ['text behind many comments', 'x', `${'<!---->'.repeat(500)}<p>x`, 'text/plain'],
    ['a fragment named as a page', 'part.html', '<p>x</p>', 'text/html'],
    ['a fragment without a name', 'download', '<h1>x</h1><p>y', 'text/html'],
    ['a fragment in Markdown', 'README.md', '<p align="center">x</p>', 'text/markdown'],
    ['values between tabs', 'a.TSV', 'a\tb', 'text/tab-separated-values'],
    ['text without a name', '', 'words', 'text/plain'],
    ['a PDF without a name', '', '%PDF-1.7\n…', 'application/pdf'],
    ['a PDF named as text', 'a.txt', '%PDF-1.7\n…', 'application/pdf'],
  ])('%s', (_, name, contents, mediaType) => {
    expect(fileKind(Buffer.from(contents), name)).toMatchObject({ mediaType })
  })

  test('the media type decides the kind of text when the name does not', () => {
    const kind = fileKind(Buffer.from('<p>x'), 'download', 'text/html; charset=gbk')
    expect(kind).toMatchObject({ kind: 'html' })
  })

  test.each([
    ['a recording', 'a.txt', 'ID3\x04\0\0\0\0\0\x0f'],
    ['an old Word file', 'a.doc', '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0'],
    ['rich text', 'a.rtf', '{\\rtf1\\ansi x}'],
    ['any archive', 'a.docx', 'PK\x03\x04\x14\0\0\0\0\0'.padEnd(60, '\0')],
    ['a package of another kind', 'a.docx', latin1(zipFile({ '[Content_Types].xml': '', a: '' }))],
  ])('%s is not supported', async (_, name, contents) => {
    const bytes = Buffer.from(contents, 'latin1')
    expect(fileKind(bytes, name)).toBeNull()
    await expect(read(name, bytes)).rejects.toMatchObject({ reason: 'unsupported' })
  })

  test('a picture is one by its bytes, whatever its name', () => {
    const bytes = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01', 'latin1')
    expect(fileKind(bytes, 'a.pdf')).toEqual({ kind: 'picture', mediaType: 'image/png' })
  })

  test('an encrypted office file is distinguished from an old one', async () => {
    const old = Buffer.from('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'latin1')
    const bytes = Buffer.concat([old, Buffer.alloc(512), wide('EncryptedPackage')])
    expect(fileKind(bytes, 'a.docx')).toBe('encrypted')
    await expect(read('a.docx', bytes)).rejects.toMatchObject({ reason: 'encrypted' })
  })

  test('only the directory of an old office file is read', () => {
    const bytes = Buffer.alloc(1_000 * 512)
    bytes.write('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'latin1')
    bytes.writeUInt16LE(9, 30)
    bytes.writeUInt32LE(900, 48)
    bytes.set(wide('EncryptedPackage'), 100 * 512)
    expect(fileKind(bytes, 'a.doc')).toBeNull()
    bytes.set(wide('EncryptedPackage'), 901 * 512 + 256)
    expect(fileKind(bytes, 'a.docx')).toBe('encrypted')
  })
})

describe('text', () => {
  test('paragraphs of Markdown come as they are, under their headings', async () => {
    const source = '# 手册\n\n开头。\n\n## 安装 ##\n\n- 一\n- 二\n\n```\n# 不是标题\n```\n\n完。'
    const { blocks } = await read('手册.md', source)
    expect(blocks.map(({ heading }) => heading)).toEqual(['手册', '安装'])
    expect(blocks.map(({ text }) => text).join('\n\n')).toBe(source)
  })

  test('chapters of plain text are headings', async () => {
    const { blocks } = await read('书.txt', '序\n第一章 春天\n花开了。\n第二章\n花落了。')
    expect(blocks.map(({ heading, text }) => [heading, text])).toEqual([
      [null, '序'],
      ['第一章 春天', '第一章 春天\n花开了。'],
      ['第二章', '第二章\n花落了。'],
    ])
  })

  test('long text comes in blocks of at most 4,000 characters, cut at sentences', async () => {
    const sentence = '这是一个不长不短的句子。'
    const { blocks } = await read('a.txt', sentence.repeat(1_000))
    expect(blocks.length).toBeGreaterThan(2)
    for (const { text } of blocks) {
      expect(text.length).toBeLessThanOrEqual(4_000)
      expect(text.endsWith('。')).toBe(true)
    }
    expect(blocks.map(({ text }) => text).join('')).toBe(sentence.repeat(1_000))
  })

  test.each([
    ['blank', ' \n\t　\n'],
    ['of private characters', '\ue001\ue002\ue003 \ue004'],
    ['empty markup', '<html><script>let x</script>'],
  ])('a file that is %s has no text', async (_, contents) => {
    await expect(read('a.txt', contents)).rejects.toMatchObject({ reason: 'no_text' })
  })

  test('more than 5 million characters are too many', async () => {
    await expect(read('a.txt', 'words and\n'.repeat(520_000))).rejects.toMatchObject({
      reason: 'too_long',
    })
  })
})

describe('tables', () => {
  test('each row of a table has the words of its header', async () => {
    const csv = '产品,价格,备注\r\n"灯, 台式",30,"有""货"""\r\n\r\n风扇,,第一行\n'
    expect((await read('a.csv', csv)).text).toBe(
      '产品: 灯, 台式; 价格: 30; 备注: 有"货"\n\n产品: 风扇; 备注: 第一行',
    )
  })

  test('a table in UTF-16 between tabs, as spreadsheets export it, is read', async () => {
    const { text } = await read('a.csv', wide('\ufeff姓名\t城市\r\n李雷\t杭州\r\n'))
    expect(text).toBe('姓名: 李雷; 城市: 杭州')
  })

  test('semicolons divide where commas are decimal', async () => {
    expect((await read('a.csv', 'Name;Preis\nLampe;3,50')).text).toBe('Name: Lampe; Preis: 3,50')
  })

  test('a quotation that is not closed ends with the file', async () => {
    expect((await read('a.csv', '名称,价格\n灯,"30\n扇,20')).text).toBe('名称: 灯; 价格: 30 扇,20')
  })

  test('a header alone is read', async () => {
    expect((await read('a.csv', '产品,价格')).text).toBe('产品; 价格')
  })
})

describe('pages', () => {
  test('a page is read as a person sees it', async () => {
    const html = `<!doctype html><html><head><title> 手册 &amp; 说明 </title><style>p{}</style></head>
      <body><nav>导航</nav><header>页眉</header><h1>开始</h1><p>第一<b>段</b>&nbsp;文字<br>换行</p>
      <p hidden>看不见</p><div style="color:red; display: none"><p>也看不见</p></div>
      <script>document.write('脚本')</script><h2>表格</h2>
      <table><tr><th>名称<th>价格</tr><tr><td><p>灯</p></td><td>30</td></tr></table>
      <ul><li>一</li><li><p>二</p></li></ul><pre>a\n  b</pre><form>表单</form><footer>页脚</footer>`
    const { info, blocks } = await read('a.html', html)
    expect(info).toMatchObject({ mediaType: 'text/html', title: '手册 & 说明', pages: null })
    expect(blocks.map(({ heading, text }) => [heading, text])).toEqual([
      ['开始', '# 开始\n\n第一段 文字\n换行'],
      ['表格', '## 表格\n\n| 名称 | 价格 |\n| 灯 | 30 |\n\n- 一\n\n- 二\n\n```\na\n  b\n```'],
    ])
  })

  test('a page says its encoding', async () => {
    const head = Buffer.from('<html><meta charset="gbk"><p>')
    expect((await read('a.html', Buffer.concat([head, GB18030]))).text).toContain('中文测试')
    const bytes = Buffer.concat([Buffer.from('<p>caf'), Buffer.from([0xe9])])
    expect((await read('a.html', bytes, 'text/html; charset=latin1')).text).toBe('café')
  })

  test('tables that lay out a page are read cell by cell', async () => {
    const html = `<html><table><tr><td><table><tr><td>菜单</td></tr></table></td>
      <td><h2>标题</h2><p>${'正文。'.repeat(300)}</p></td></tr></table>`
    const { text } = await read('a.html', html)
    expect(text).not.toContain('|')
    expect(text).toContain('菜单\n\n')
  })
})

test('a file that is read holds up the next file and no page of a turn', async () => {
  const events: string[] = []
  const ending = new AbortController()
  const endless = readFile(parser, 'a.html', ENDLESS_PAGE, null, ending.signal)
  const first = endless.catch(() => events.push('first'))
  const next = read('a.txt', 'next').then(() => events.push('next'))
  const options = { contentType: 'text/html' }
  const page = { name: 'page', bytes: Buffer.from('<p>x'), options, tenantId: 't' } as const
  for await (const { text } of parser.parse(page, ending.signal)) events.push(text)
  ending.abort()
  await Promise.all([first, next])
  expect(events).toEqual(['x', 'first', 'next'])
})
