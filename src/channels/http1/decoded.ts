import type { Answer, AnswerBody } from '../net/endpoint.ts'

/** Content codings (RFC 9110, section 8.4.1) by the names that `DecompressionStream` has. */
const FORMATS: Readonly<Record<string, Bun.CompressionFormat>> = {
  gzip: 'gzip',
  'x-gzip': 'gzip',
  deflate: 'deflate',
  br: 'brotli',
  zstd: 'zstd',
}

/**
 * The body without its compression. None was asked for, but some upstreams compress all the same.
 * Throws for a coding that nobody here knows.
 */
export function decoded(body: AnswerBody, headers: Answer['headers']): AnswerBody {
  const coding = (headers.get('content-encoding') ?? 'identity').trim().toLowerCase()
  if (coding === 'identity' || coding === '') return body
  // The web's own type knows two of them; the runtime knows all.
  const format = FORMATS[coding]
  if (!format) throw new Error('unknown content coding')
  return streamOf(body).pipeThrough(new DecompressionStream(format as CompressionFormat))
}

function streamOf(body: AnswerBody): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read()
      if (done || !value) controller.close()
      else controller.enqueue(Uint8Array.from(value))
    },
    cancel: () => reader.cancel(),
  })
}
