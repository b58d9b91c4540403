import { afterAll, expect, test } from 'bun:test'
import { DOCUMENT_PAGES_MAX } from '../../src/core/limits/machine.ts'
import { openDocuments } from '../support/documents.ts'
import { pdfFile } from '../support/pdf-file.ts'
import { scannedPdf, scansOf } from '../support/scans.ts'

const parser = openDocuments()
afterAll(() => parser.close())
const signal = new AbortController().signal

/** Numbers of the pages that are pictures. */
async function scansIn(bytes: Uint8Array): Promise<readonly number[]> {
  const options = { fileName: 'a.pdf', contentType: null, scans: true }
  for await (const part of parser.parse(
    { name: 'document', bytes, options, tenantId: 't' },
    signal,
  )) {
    if (part.type === 'info') return part.scans?.pages ?? []
  }
  throw new Error('nothing was told of the file')
}

async function drawn(bytes: Uint8Array, page: number) {
  const options = { page, sideMax: 1_600 }
  for await (const image of parser.parse(
    { name: 'drawing', bytes, options, tenantId: 't' },
    signal,
  )) {
    return new Bun.Image(image).metadata()
  }
  throw new Error('nothing was drawn')
}

const part = (share: number) =>
  `q ${595 * share} 0 0 842 0 0 cm BI /W 1 /H 1 /CS /G /BPC 8 ID x EI Q`

test('a page with few letters and a picture over half of it is a scan', async () => {
  const letters = 'Nineteen letters ar 12 34'
  const page = (share: number, words = letters) => ({
    content: `${part(share)} BT /F1 12 Tf 72 700 Td (${words}) Tj ET`,
  })
  const pages = [page(0.6), page(0.4), page(0.6, `${letters} and more`), { lines: [] }]
  expect(await scansIn(pdfFile(pages))).toEqual([1])
})

test('strips of a page count together', async () => {
  const strips = [0, 1, 2, 3].map((n) => {
    const at = `${595 / 4} 0 0 842 ${(595 / 4) * n} 0 cm`
    return `q ${at} BI /W 1 /H 1 /CS /G /BPC 8 ID x EI Q`
  })
  expect(await scansIn(pdfFile([{ content: strips.join('\n') }]))).toEqual([1])
})

test('a page of any size is drawn with sides of at most 1,600 pixels', async () => {
  const plain = Buffer.from(scansOf(1)).toString('latin1')
  const sized = (box: string) => Buffer.from(plain.replace('[0 0 595 842]', box), 'latin1')
  expect(await drawn(scansOf(1), 1)).toEqual({ format: 'jpeg', width: 1131, height: 1600 })
  const wide = await drawn(sized('[0 0 9000000 842]'), 1)
  expect(Math.max(wide.width, wide.height)).toBe(1600)
})

test('a damaged file and a page that is not there fail; a bomb leaves others alone', async () => {
  const fails = (bytes: Uint8Array, page = 1) => drawn(bytes, page).catch(({ reason }) => reason)
  expect(await fails(scansOf(1), 2)).toBe('unreadable')
  expect(await fails(Buffer.from('%PDF-1.4 nothing'))).toBe('unreadable')
  const image = `q 595 0 0 842 0 0 cm BI /W 60000 /H 60000 /CS /RGB /BPC 8 /F /RL ID x EI Q`
  await drawn(pdfFile([{ content: image }]), 1).catch(() => {})
  // The process, or the one that took its place, draws on.
  expect(await drawn(scannedPdf([null]), 1)).toMatchObject({ format: 'jpeg' })
})

test('more pages than a document may have are refused before any is drawn', async () => {
  const many = pdfFile(Array(DOCUMENT_PAGES_MAX + 1).fill({ lines: [] }))
  await expect(scansIn(many)).rejects.toMatchObject({ reason: 'too_long' })
})
