import { Parser } from 'htmlparser2'
import { DOCUMENT_DEPTH_MAX } from '../core/limits/machine.ts'
import { byteOrderMark } from '../core/text-encoding.ts'
import { ParseFailure } from '../upstream/ports/parser.ts'
import type { Archive } from './archive.ts'

export interface XmlHandler {
  /** Names come without their prefix. */
  open?(name: string, attributes: Attributes): void
  text?(data: string): void
  close?(name: string): void
}

/** Attributes of an element, by their names as written, with prefix. */
export type Attributes = Readonly<Record<string, string>>

/**
 * Reads a part of an archive as XML while it is unpacked. Decodes only XML's five named entities
 * and numeric ones; skips a document type. Throws `ParseFailure` for elements too deep.
 */
export async function readXml(archive: Archive, name: string, handler: XmlHandler): Promise<void> {
  let depth = 0
  let decoder: TextDecoder | null = null
  const parser = new Parser(
    {
      onopentag(tag, attributes) {
        if (++depth > DOCUMENT_DEPTH_MAX) throw new ParseFailure('too_long')
        handler.open?.(localName(tag), attributes)
      },
      ontext: (data) => handler.text?.(data),
      onclosetag(tag) {
        depth--
        handler.close?.(localName(tag))
      },
    },
    { xmlMode: true },
  )
  for await (const piece of archive.read(name)) {
    decoder ??= new TextDecoder((byteOrderMark(piece) ?? 'utf-8') as Bun.Encoding)
    parser.write(decoder.decode(piece, { stream: true }))
  }
  parser.end()
}

const localName = (tag: string) => tag.slice(tag.indexOf(':') + 1)

/** An attribute with any or no prefix, because programs use different prefixes. */
export function attribute(attributes: Attributes, name: string): string | undefined {
  if (attributes[name] !== undefined) return attributes[name]
  const key = Object.keys(attributes).find((key) => key.endsWith(`:${name}`))
  return key && attributes[key]
}

/** The relationship id; it has a prefix in elements that also have an id of their own. */
export function relationId(attributes: Attributes): string | undefined {
  const key = Object.keys(attributes).find((key) => key.endsWith(':id'))
  return key && attributes[key]
}
