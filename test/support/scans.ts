import type { TestApp, TestPerson } from './app.ts'
import { pdfFile } from './pdf-file.ts'

/** Files of scanned pages, and the switch that has them read. */

const [WIDTH, HEIGHT] = [64, 90]

/** The content of a page that is one grey picture with `mark` dark rows, and nothing else. */
function picture(mark: number): Uint8Array {
  const rows = Buffer.alloc(WIDTH * HEIGHT, 220)
  rows.fill(20, 0, WIDTH * (1 + mark))
  const head = `q 595 0 0 842 0 0 cm BI /W ${WIDTH} /H ${HEIGHT} /CS /G /BPC 8 ID `
  return Buffer.concat([Buffer.from(head), rows, Buffer.from(' EI Q')])
}

/** A PDF whose pages are pictures; a text in place of `null` makes a page of text. */
export const scannedPdf = (pages: readonly (string | null)[]): Uint8Array =>
  pdfFile(
    pages.map((text, i) => (text === null ? { content: picture(i) } : { lines: [text] })),
    {},
  )

export const scansOf = (count: number) => scannedPdf(Array<null>(count).fill(null))

/** Sets how the tenant has its scans read. */
export async function setScans(
  app: TestApp,
  { headers }: TestPerson,
  settings: object = { ocr: 'scans' },
): Promise<number> {
  const response = await fetch(`${app.url}/console/settings`, {
    method: 'PUT',
    headers: { ...headers, origin: app.url, 'content-type': 'application/json' },
    body: JSON.stringify(settings),
  })
  return response.status
}

/** What a model is sent of a page. */
export interface PageRequest {
  readonly body: {
    readonly model: string
    readonly temperature: number
    readonly tools?: unknown
    readonly messages: readonly { readonly content: unknown }[]
  }
}

/** The JPEG or other picture in a request. */
export async function pictureIn({ body }: PageRequest) {
  const parts = body.messages[0]?.content as { image_url?: { url: string } }[]
  const url = parts.find((part) => part.image_url)?.image_url?.url ?? ''
  return new Bun.Image(Buffer.from(url.split(',')[1] ?? '', 'base64')).metadata()
}
