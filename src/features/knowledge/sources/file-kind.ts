import { pictureKind } from '../../../core/picture-kind.ts'
import { textEncoding } from '../../../core/text-encoding.ts'
import { firstZipName, isZip, zipEntries } from '../../../core/zip.ts'
import type { DocumentKind } from '../../../upstream/ports/parser.ts'

export interface FileKind {
  readonly kind: DocumentKind
  readonly mediaType: string
}

const OFFICE = 'application/vnd.openxmlformats-officedocument.'
const KINDS = {
  pdf: 'application/pdf',
  docx: `${OFFICE}wordprocessingml.document`,
  pptx: `${OFFICE}presentationml.presentation`,
  xlsx: `${OFFICE}spreadsheetml.sheet`,
  epub: 'application/epub+zip',
  html: 'text/html',
  csv: 'text/csv',
  markdown: 'text/markdown',
  text: 'text/plain',
} as const satisfies Record<Exclude<DocumentKind, 'picture'>, string>

const kindOf = (kind: keyof typeof KINDS): FileKind => ({ kind, mediaType: KINDS[kind] })

/**
 * The kind of a file by its contents; its name, and then its declared media type, only choose among
 * kinds of text, and keep a program from being one. `encrypted`: an office file that needs a
 * password. Null: not supported. Reads the beginning of the file and the names in an archive, and
 * unpacks nothing.
 */
export function fileKind(
  bytes: Uint8Array,
  fileName: string,
  contentType = '',
): FileKind | 'encrypted' | null {
  if (isZip(bytes)) return archiveKind(bytes, fileName)
  if (startsWith(bytes, OLE)) return isEncryptedOffice(bytes) ? 'encrypted' : null
  if (hasPdfHeader(bytes)) return kindOf('pdf')
  if (PROGRAM.test(fileName)) return null
  const picture = pictureKind(bytes.subarray(0, PICTURE_START_BYTES))
  if (picture && picture.mediaType !== 'image/gif') {
    return { kind: 'picture', mediaType: picture.mediaType }
  }
  const encoding = textEncoding(bytes)
  return encoding === null ? null : textKind(startOf(bytes, encoding), fileName, contentType)
}

/**
 * A damaged archive, or one with too many entries, is classified by its first entry or its name, so
 * that the parser can report what is wrong.
 */
function archiveKind(bytes: Uint8Array, fileName: string): FileKind | null {
  const names = zipEntries(bytes, ZIP_NAMES_MAX)?.map(({ name }) => name)
  const has = (name: string) => (names ? names.includes(name) : firstZipName(bytes) === name)
  if (has('mimetype')) {
    const isBook = names ? has('META-INF/container.xml') : /\.epub$/i.test(fileName)
    return isBook ? kindOf('epub') : null
  }
  if (!has('[Content_Types].xml')) return null
  const isWhole = names && names.length < ZIP_NAMES_MAX
  return officeKind(names ?? []) ?? (isWhole ? null : officeKindOfName(fileName))
}

function officeKind(names: readonly string[]): FileKind | null {
  const folders = new Set(names.map((name) => name.slice(0, name.indexOf('/') + 1)))
  if (folders.has('word/')) return kindOf('docx')
  if (folders.has('ppt/')) return kindOf('pptx')
  return folders.has('xl/') && !names.includes('xl/workbook.bin') ? kindOf('xlsx') : null
}

function officeKindOfName(fileName: string): FileKind | null {
  const [, ending] = /\.(docx|docm|pptx|pptm|xlsx|xlsm)$/i.exec(fileName) ?? []
  return ending ? kindOf(`${ending.slice(0, 3).toLowerCase()}x` as keyof typeof KINDS) : null
}

/** The entries that identify an office file are among the first. */
const ZIP_NAMES_MAX = 10_000

/** Compound files: Office before 2007, and the envelope of encrypted files since. */
const OLE = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]

const startsWith = (bytes: Uint8Array, start: readonly number[]) =>
  start.every((byte, i) => bytes[i] === byte)

/** A damaged or cut program may look like a text. */
const PROGRAM = /\.(?:dll|exe|msi)$/i

/** Entries of a compound file that are looked at, of 128 bytes each. */
const DIRECTORY_BYTES = 64 * 128

/**
 * Whether a stream holds an encrypted package ([MS-OFFCRYPTO] 2.3.4.4). Only the beginning of the
 * directory is read: it stands where the header says ([MS-CFB] 2.2).
 */
function isEncryptedOffice(bytes: Uint8Array): boolean {
  const file = asBuffer(bytes)
  if (file.length < OLE_HEADER_BYTES) return false
  const sector = 2 ** (file.readUInt16LE(30) % 32)
  const start = (file.readUInt32LE(48) + 1) * sector
  const directory = file.subarray(start, start + DIRECTORY_BYTES)
  return directory.includes(Buffer.from('EncryptedPackage', 'utf16le'))
}

const OLE_HEADER_BYTES = 512

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  Buffer.from(buffer, byteOffset, byteLength)

/** More than a signature has. */
const PICTURE_START_BYTES = 64

/** Some files have other bytes before the header; readers accept up to this many. */
const PDF_HEADER_WITHIN = 1024

function hasPdfHeader(bytes: Uint8Array): boolean {
  const start = asBuffer(bytes.subarray(0, PDF_HEADER_WITHIN)).toString('latin1')
  return /^\s*%PDF-/.test(start) || (/^%PDF-\d\.\d/m.test(start) && textEncoding(bytes) === null)
}

const START_BYTES = 4 * 1024

const startOf = (bytes: Uint8Array, encoding: string) =>
  new TextDecoder(encoding as Bun.Encoding).decode(bytes.subarray(0, START_BYTES))

/** An XML declaration and comments may stand before. */
const HTML =
  /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->)[\s\S])*-->\s*)*<(?:!doctype\s+html|html)[\s>]/i

/** The start of an HTML fragment, in a file with an unknown extension. */
const FRAGMENT = /^\s*<(?:head|title|meta|body|main|article|section|div|h[1-6]|p|table|ul|ol)[\s>]/i

function textKind(start: string, fileName: string, contentType: string): FileKind | null {
  if (start.startsWith('{\\rtf')) return null
  if (HTML.test(start)) return kindOf('html')
  const ending = /\.([^.]+)$/.exec(fileName)?.[1]?.toLowerCase() ?? ''
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? ''
  const named = BY_ENDING[ending] ?? BY_TYPE[type] ?? (FRAGMENT.test(start) ? 'html' : 'text')
  return named === 'tsv' ? { kind: 'csv', mediaType: 'text/tab-separated-values' } : kindOf(named)
}

type Named = keyof typeof KINDS | 'tsv'

const BY_ENDING: Readonly<Record<string, Named>> = {
  txt: 'text',
  htm: 'html',
  html: 'html',
  xhtml: 'html',
  csv: 'csv',
  tsv: 'tsv',
  tab: 'tsv',
  md: 'markdown',
  markdown: 'markdown',
}

const BY_TYPE: Readonly<Record<string, Named>> = {
  'text/html': 'html',
  'application/xhtml+xml': 'html',
  'text/csv': 'csv',
  'text/tab-separated-values': 'tsv',
  'text/markdown': 'markdown',
}
