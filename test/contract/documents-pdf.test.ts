import { afterAll, expect, test } from 'bun:test'
import { openDocuments, readFile } from '../support/documents.ts'
import { type PdfOptions, type PdfPage, pdfFile } from '../support/pdf-file.ts'

const parser = openDocuments()
afterAll(() => parser.close())
const read = (pages: readonly PdfPage[], options?: PdfOptions) =>
  readFile(parser, 'a.pdf', pdfFile(pages, options))

test('each block of a PDF lies on the page that it names', async () => {
  const pages = ['one', 'two', 'three'].map((word) => ({ lines: [`This is page ${word}.`] }))
  const { info, blocks } = await read(pages, { title: '手册' })
  const mediaType = 'application/pdf'
  expect(info).toEqual({ type: 'info', mediaType, title: '手册', pages: 3 })
  expect(blocks.map(({ page, text }) => [page, text])).toEqual([
    [1, 'This is page one.'],
    [2, 'This is page two.'],
    [3, 'This is page three.'],
  ])
})

test('a PDF of 300 pages is read whole', async () => {
  const line = 'Every page of this long manual has forty lines that look like this one does.'
  const pages = Array.from({ length: 300 }, (_, i) => ({
    lines: [`Chapter number ${i + 1} begins`, ...new Array(39).fill(line)],
  }))
  const { info, blocks } = await read(pages)
  expect(info.pages).toBe(300)
  expect(new Set(blocks.map(({ page }) => page)).size).toBe(300)
  expect(blocks.at(-1)?.text).toContain('that look like this one does.')
})

test('Chinese in a font that only names its character map is read', async () => {
  const lines = ['保修期为两年，', '从购买之日起计算。']
  const { text } = await read([{ lines }], { chinese: true })
  expect(text.replace('\n', '')).toBe('保修期为两年，从购买之日起计算。')
})

test("a PDF's line breaks inside sentences and hyphens inside words are removed", async () => {
  const lines = [
    'The warranty of this product lasts for two years and covers all dam-',
    'ages that are not caused by the owner. It begins with the purchase.',
    'Keep the bill.',
  ]
  const { text } = await read([{ lines }])
  expect(text).toBe(
    'The warranty of this product lasts for two years and covers all damages that are not ' +
      'caused by the owner. It begins with the purchase. Keep the bill.',
  )
})

test('rows of a table stay apart, also the longest', async () => {
  const table = ['Name Use', 'fan for all the rooms of a large house', 'lamp light', 'cup tea']
  const prose = 'This list names everything that is in the box when you open it for the first'
  const { text } = await read([{ lines: [...table, prose, prose, 'time.'] }])
  expect(text.split('\n')).toEqual([...table, `${prose} ${prose} time.`])
})

test('larger lines are headings of what follows, over the end of a page', async () => {
  const body = ['Words of the chapter that are many more than those of its title.', 'End.']
  const pages = [{ lines: ['Safety', ...body] }, { lines: ['Cleaning', ...body] }]
  const { blocks } = await read(pages, { headingSize: 20 })
  expect(blocks.map(({ heading }) => heading)).toEqual(['Safety', 'Cleaning'])
  expect(blocks[0]?.text).toStartWith('## Safety')
})

test('running heads of a PDF are left out', async () => {
  const pages = [1, 2, 3, 4].map((page) => ({
    lines: ['The Manual', `Words of page ${'x'.repeat(page)}`, `Guide ${page} / 4`],
  }))
  const { text } = await read(pages)
  expect(text).toContain('Words of page xxx')
  expect(text).not.toContain('Manual')
  expect(text).not.toContain('/ 4')
})

test('lines at the edge of pages that differ in a number alone are text', async () => {
  const pages = [1, 2, 3, 4].map((page) => ({
    lines: [`Chapter ${page} Rules`, 'Words between.', `Form ZX-100${page}`],
  }))
  const { text } = await read(pages)
  for (const page of [1, 2, 3, 4]) {
    expect(text).toContain(`Chapter ${page} Rules`)
    expect(text).toContain(`Form ZX-100${page}`)
  }
  const { text: short } = await read([1, 2, 3].map((page) => ({ lines: [`Page ${page}`] })))
  expect(short.match(/Page \d/g)).toEqual(['Page 1', 'Page 2', 'Page 3'])
})

test('spaces between all Chinese characters of a page are taken out', async () => {
  const { text } = await read([{ lines: ['使 用 说 明 书 第 2 章'] }], { chinese: true })
  expect(text).toBe('使用说明书第2章')
})

test('a PDF of pictures has no text', async () => {
  const content = '100 0 0 100 72 600 cm BI /W 2 /H 2 /BPC 8 /CS /G ID abcd EI'
  await expect(read([{ content }, { content }])).rejects.toMatchObject({ reason: 'no_text' })
})

test('a PDF in which hardly a character can be read has no text', async () => {
  const lines = ['\ue001\ue002\ue003\ue004\ue005', 'OK']
  await expect(read([{ lines }], { chinese: true })).rejects.toMatchObject({ reason: 'no_text' })
})

test('a PDF that asks for a password is encrypted; one for its owner only is read', async () => {
  const pages = [{ lines: ['Nothing secret here.'] }]
  const locked = read(pages, { passwords: { user: 'open', owner: 'own' } })
  await expect(locked).rejects.toMatchObject({ reason: 'encrypted' })
  const { text } = await read(pages, { passwords: { user: '', owner: 'own' } })
  expect(text).toBe('Nothing secret here.')
})

test.each([
  ['cut in the middle', (bytes: Uint8Array) => bytes.subarray(0, bytes.length / 2)],
  ['cut after its head', (bytes: Uint8Array) => bytes.subarray(0, 40)],
  ['of a head and nothing else', () => Buffer.from('%PDF-1.7\n')],
])('a PDF %s cannot be read', async (_, damage) => {
  const bytes = pdfFile(Array.from({ length: 20 }, (_, i) => ({ lines: [`Page ${i}`] })))
  const reading = readFile(parser, 'a.pdf', damage(bytes))
  await expect(reading).rejects.toMatchObject({ reason: 'unreadable' })
})

const drawing = (times: number) =>
  Buffer.from('BT /F1 9 Tf 1 0 0 1 72 700 Tm (a) Tj ET\n'.repeat(times))

test('a PDF whose pages unpack to more than 64 MB is not read', async () => {
  const half = { content: drawing(900_000) }
  const bomb = pdfFile([half, half])
  expect(bomb.length).toBeLessThan(500_000)
  await expect(readFile(parser, 'a.pdf', bomb)).rejects.toMatchObject({ reason: 'too_long' })
})

test('a PDF with a hidden decompression bomb ends only its own process', async () => {
  // Encrypted streams are not counted.
  const bomb = pdfFile([{ content: drawing(5_000_000) }], { passwords: { user: '', owner: 'own' } })
  await expect(readFile(parser, 'a.pdf', bomb)).rejects.toMatchObject({ reason: 'exhausting' })
  expect((await read([{ lines: ['Still here.'] }])).text).toBe('Still here.')
}, 120_000)

test('more than 5,000 pages are too many', async () => {
  const pages = new Array(5_001).fill({ lines: ['x'] })
  await expect(read(pages)).rejects.toMatchObject({ reason: 'too_long' })
})
