import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'

/** Writes PDF files, which no library here does, by ISO 32000-1. */

export interface PdfPage {
  /** Lines from above; each becomes a line of 12 points. */
  readonly lines?: readonly string[]
  /** The content stream itself, instead of lines. */
  readonly content?: string | Uint8Array
}

export interface PdfOptions {
  readonly title?: string
  /** Chinese in a font that only names its character map. */
  readonly chinese?: boolean
  /** Line by line, 18 points apart; the first line of a page may be larger. */
  readonly headingSize?: number
  readonly passwords?: { readonly user: string; readonly owner: string }
}

export function pdfFile(pages: readonly PdfPage[], options: PdfOptions = {}): Uint8Array {
  const objects: (string | { dict: string; stream: Uint8Array })[] = []
  const add = (object: (typeof objects)[number]) => objects.push(object)
  const kids = pages.map((_, i) => `${FIRST_PAGE + 2 * i} 0 R`)
  add('<< /Type /Catalog /Pages 2 0 R >>')
  add(`<< /Type /Pages /Kids [${kids.join(' ')}] /Count ${pages.length} >>`)
  add(options.chinese ? CHINESE_FONT : '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>')
  add('<< /Type /FontDescriptor /FontName /STSong-Light /Flags 6 /Ascent 880 /Descent -120 >>')
  add(`<< /Title ${hex(Buffer.from(`\ufeff${options.title ?? ''}`, 'utf16le').swap16())} >>`)
  for (const [i, page] of pages.entries()) {
    const content = FIRST_PAGE + 2 * i + 1
    add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${content} 0 R ` +
        '/Resources << /Font << /F1 3 0 R >> >> >>',
    )
    const stream = deflateSync(page.content ?? linesContent(page.lines ?? [], options))
    add({ dict: '/Filter /FlateDecode', stream })
  }
  return assemble(objects, options.passwords)
}

/** Objects 1 to 5 are catalog, tree of pages, font, its descriptor and the title. */
const FIRST_PAGE = 6

const CHINESE_FONT =
  '<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H ' +
  '/DescendantFonts [<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light ' +
  '/CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 4 >> /DW 1000 ' +
  '/FontDescriptor 4 0 R >>] >>'

const hex = (bytes: Uint8Array) => `<${Buffer.from(bytes).toString('hex')}>`

function linesContent(lines: readonly string[], options: PdfOptions): string {
  const shown = lines.map((line, i) => {
    const size = i === 0 ? (options.headingSize ?? 12) : 12
    const utf16 = Buffer.from(line, 'utf16le').swap16()
    const text = options.chinese ? hex(utf16) : hex(Buffer.from(line, 'latin1'))
    return `BT /F1 ${size} Tf 1 0 0 1 72 ${760 - 18 * i} Tm ${text} Tj ET`
  })
  return shown.join('\n')
}

type Objects = readonly (string | { readonly dict: string; readonly stream: Uint8Array })[]

function assemble(objects: Objects, passwords: PdfOptions['passwords']): Uint8Array {
  const lock = passwords && createLock(passwords.user, passwords.owner)
  const parts = [Buffer.from('%PDF-1.4\n%\xe2\xe3\xcf\xd3\n', 'latin1')]
  const offsets: number[] = []
  const length = () => parts.reduce((sum, { length }) => sum + length, 0)
  for (const [i, object] of objects.entries()) {
    offsets.push(length())
    parts.push(Buffer.from(`${i + 1} 0 obj\n`))
    if (typeof object === 'string') parts.push(Buffer.from(`${object}\nendobj\n`, 'latin1'))
    else {
      const stream = lock ? lock.encrypt(i + 1, object.stream) : object.stream
      parts.push(Buffer.from(`<< ${object.dict} /Length ${stream.length} >>\nstream\n`))
      parts.push(Buffer.from(stream), Buffer.from('\nendstream\nendobj\n'))
    }
  }
  const xref = length()
  const rows = offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('')
  // Strings are not encrypted here, so a locked file names no title.
  const rest = lock ? `/Encrypt ${lock.dict} /ID [${hex(ID)} ${hex(ID)}]` : '/Info 5 0 R'
  parts.push(
    Buffer.from(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`),
    Buffer.from(`trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${rest} >>\n`),
    Buffer.from(`startxref\n${xref}\n%%EOF\n`),
  )
  return new Uint8Array(Buffer.concat(parts))
}

const ID = Buffer.alloc(16, 7)
const PERMISSIONS = -4
const PADDING = Buffer.from(
  '28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a',
  'hex',
)

const md5 = (...parts: readonly Uint8Array[]) =>
  createHash('md5').update(Buffer.concat(parts)).digest()
const padded = (password: string) => Buffer.concat([Buffer.from(password), PADDING]).subarray(0, 32)

/** The standard security handler of revision 2: RC4 with 40 bits (ISO 32000-1, 7.6.3). */
function createLock(user: string, owner: string) {
  const o = rc4(md5(padded(owner)).subarray(0, 5), padded(user))
  const permissions = Buffer.alloc(4)
  permissions.writeInt32LE(PERMISSIONS)
  const key = md5(padded(user), o, permissions, ID).subarray(0, 5)
  return {
    dict:
      `<< /Filter /Standard /V 1 /R 2 /O ${hex(o)} /U ${hex(rc4(key, PADDING))} ` +
      `/P ${PERMISSIONS} >>`,
    encrypt(object: number, bytes: Uint8Array): Uint8Array {
      const number = Buffer.from([object & 0xff, object >> 8, 0, 0, 0])
      return rc4(md5(key, number).subarray(0, 10), bytes)
    },
  }
}

function rc4(key: Uint8Array, bytes: Uint8Array): Buffer {
  const state = Uint8Array.from({ length: 256 }, (_, i) => i)
  const at = (i: number) => state[i & 0xff] ?? 0
  const swap = (i: number, j: number) => {
    const kept = at(i)
    state[i & 0xff] = at(j)
    state[j & 0xff] = kept
  }
  for (let i = 0, j = 0; i < 256; i++) {
    j += at(i) + (key[i % key.length] ?? 0)
    swap(i, j)
  }
  let j = 0
  return Buffer.from(
    bytes.map((byte, index) => {
      const i = index + 1
      j += at(i)
      swap(i, j)
      return byte ^ at(at(i) + at(j))
    }),
  )
}
