import { appError } from '../../core/errors.ts'
import { checkImage } from '../../upstream/egress/images.ts'
import type { CallerPart } from '../shared/conversation.ts'

/** A value of a body that nobody has checked. */
export type Given = Readonly<Record<string, unknown>>

/** Reads the text of a PDF that `findPdfs` has found. */
export type PdfTexts = ReadonlyMap<unknown, string>

const IMAGE_TYPES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])
const PDF = 'application/pdf'

export const invalid = (field: string, param: string) =>
  appError('field_invalid', { field }, { param })

export const isObject = (value: unknown): value is Given =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Lone surrogates have no UTF-8 form. */
export function stringAt(value: unknown, at: string, field: string): string {
  if (typeof value !== 'string') throw invalid(field, `${at}.${field}`)
  return value.toWellFormed()
}

/** The blocks of a content: a text is one; with `isOptional` an absent one has none. */
export function blocksOf(content: unknown, at: string, isOptional = false): readonly Given[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (isOptional && (content === undefined || content === null)) return []
  if (!Array.isArray(content)) throw invalid('content', at)
  for (const [index, block] of content.entries()) {
    if (!isObject(block) || typeof block.type !== 'string') {
      throw invalid('type', `${at}[${index}].type`)
    }
  }
  return content
}

/** The parts of what a block says; none of a kind that is not known. */
export function partsOf(block: Given, at: string, pdfs: PdfTexts): readonly CallerPart[] {
  switch (block.type) {
    case 'text':
      return [stringAt(block.text, at, 'text')]
    case 'image':
      return [{ image: imageOf(block.source, at) }]
    case 'document':
      return [documentText(block, at, pdfs)]
    case 'search_result':
      return [foundText(block, at)]
    case 'tool_reference':
      return [stringAt(block.tool_name, at, 'tool_name')]
    default:
      return []
  }
}

function imageOf(source: unknown, at: string): string {
  if (!isObject(source)) throw invalid('source', `${at}.source`)
  const url = source.type === 'url' ? source.url : dataUrl(source)
  if (typeof url !== 'string') throw invalid('source', `${at}.source`)
  if (checkImage(url) === null) return url
  throw invalid('source', `${at}.source`)
}

function dataUrl({ type, media_type: mediaType, data }: Given): string | null {
  if (type !== 'base64' || typeof mediaType !== 'string' || typeof data !== 'string') return null
  return IMAGE_TYPES.has(mediaType) ? `data:${mediaType};base64,${data}` : null
}

function documentText(block: Given, at: string, pdfs: PdfTexts): string {
  const { source, title } = block
  if (!isObject(source)) throw invalid('source', `${at}.source`)
  const name = typeof title === 'string' ? [title.toWellFormed()] : []
  return [...name, sourceText(source, at, pdfs)].join('\n')
}

function sourceText(source: Given, at: string, pdfs: PdfTexts): string {
  if (source.type === 'text') return stringAt(source.data, `${at}.source`, 'data')
  if (source.type === 'content') return textsOf(blocksOf(source.content, `${at}.source`), at)
  const read = pdfs.get(source)
  if (read === undefined) throw invalid('source', `${at}.source`)
  return read
}

function foundText({ title, source, content }: Given, at: string): string {
  const heads = [title, source].filter((value) => typeof value === 'string')
  return [...heads, textsOf(blocksOf(content, `${at}.content`, true), at)].join('\n').toWellFormed()
}

const textsOf = (blocks: readonly Given[], at: string): string =>
  blocks
    .filter(({ type }) => type === 'text')
    .map(({ text }) => stringAt(text, at, 'text'))
    .join('\n')

/** The sources of all PDFs of a conversation, also of those in results of tools. */
export function findPdfs(messages: readonly unknown[]): Given[] {
  const found: Given[] = []
  const look = (content: unknown, depth: number): void => {
    if (!Array.isArray(content)) return
    for (const block of content) {
      if (!isObject(block)) continue
      if (block.type === 'document' && isPdf(block.source)) found.push(block.source)
      if (block.type === 'tool_result' && depth === 0) look(block.content, 1)
    }
  }
  for (const message of messages) if (isObject(message)) look(message.content, 0)
  return found
}

const isPdf = (source: unknown): source is Given =>
  isObject(source) &&
  source.type === 'base64' &&
  source.media_type === PDF &&
  typeof source.data === 'string'
