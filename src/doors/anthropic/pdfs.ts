import { appError } from '../../core/errors.ts'
import { ParseFailure, type Parser } from '../../upstream/ports/parser.ts'
import { findPdfs, invalid, type PdfTexts } from './blocks.ts'

const PDFS_MAX = 5
const OPTIONS = { fileName: 'document.pdf', contentType: 'application/pdf' }
/** What the model is told of a scan. */
const NO_TEXT = '[PDF: no text]'

export type ReadPdfs = (
  messages: readonly unknown[],
  tenantId: string,
  signal: AbortSignal,
) => Promise<PdfTexts>

export interface PdfReaderParts {
  readonly parser: Parser
  /** Of one file, as an upload may have. */
  readonly bytesMax: () => number
}

/**
 * Reads the PDFs of a conversation one after another, in the parse process. Throws a 400, and 413
 * for one that is too large.
 */
export function createPdfReader({ parser, bytesMax }: PdfReaderParts): ReadPdfs {
  async function textOf(data: string, tenantId: string, signal: AbortSignal): Promise<string> {
    const bytes = Uint8Array.from(Buffer.from(data, 'base64'))
    if (bytes.length > bytesMax()) {
      throw appError('file_too_large', { max: bytesMax() / 1024 / 1024 })
    }
    const task = { name: 'document', bytes, options: OPTIONS, tenantId } as const
    const texts: string[] = []
    try {
      for await (const part of parser.parse(task, signal)) {
        if (part.type === 'block') texts.push(part.text)
        else if (part.mediaType !== OPTIONS.contentType) throw invalid('source', 'messages')
      }
    } catch (error) {
      if (!(error instanceof ParseFailure)) throw error
      if (error.reason === 'no_text') return NO_TEXT
      throw invalid('source', 'messages')
    }
    return texts.join('\n\n').toWellFormed()
  }

  return async (messages, tenantId, signal) => {
    const texts = new Map<unknown, string>()
    const found = findPdfs(messages)
    if (found.length > PDFS_MAX) throw invalid('document', 'messages')
    for (const source of found) {
      texts.set(source, await textOf(String(source.data), tenantId, signal))
    }
    return texts
  }
}
