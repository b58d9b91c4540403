import { fileURLToPath } from 'node:url'
import { programAt } from '../../src/commands/program.ts'
import { systemClock } from '../../src/core/clock.ts'
import type { DocumentBlock, DocumentInfo, Parser } from '../../src/upstream/ports/parser.ts'
import { openParser } from '../../src/wiring/machine.ts'

const MAIN = new URL('../../src/main.ts', import.meta.url)

/** Parse workers as the command line starts them. */
export function openDocuments() {
  const { parseWorker } = programAt(MAIN.href, [process.execPath, fileURLToPath(MAIN)])
  return openParser(parseWorker, systemClock())
}

export interface ReadFile {
  readonly info: DocumentInfo
  readonly blocks: readonly DocumentBlock[]
  /** All blocks, one below the other. */
  readonly text: string
}

/**
 * A page that keeps its reader busy for longer than a reading may take: each end tag is looked for
 * among all open elements.
 */
export const ENDLESS_PAGE = `<html>${'<b>'.repeat(200_000)}${'</i>'.repeat(300_000)}`

/** What the parse process reads of a file. Rejects with `ParseFailure`. */
export async function readFile(
  parser: Parser,
  fileName: string,
  contents: Uint8Array | string,
  contentType: string | null = null,
  signal: AbortSignal = new AbortController().signal,
): Promise<ReadFile> {
  const bytes = typeof contents === 'string' ? Buffer.from(contents) : contents
  const options = { fileName, contentType }
  const task = { name: 'document', bytes, options, tenantId: 't' } as const
  const infos: DocumentInfo[] = []
  const blocks: DocumentBlock[] = []
  for await (const part of parser.parse(task, signal)) {
    if (part.type === 'info') infos.push(part)
    else blocks.push(part)
  }
  const [info, ...more] = infos
  if (!info || more.length > 0) throw new Error(`${infos.length} infos`)
  return { info, blocks, text: blocks.map(({ text }) => text).join('\n\n') }
}
