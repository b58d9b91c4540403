import type { ParseFunctions } from '../channels/parser/worker.ts'

/**
 * What the parse worker does for each task of `channels/ports/parser.ts`. The libraries are loaded
 * with the first task that needs them.
 */
export const parseFunctions: ParseFunctions = {
  async *audio(bytes, { rate }) {
    const { decodePcm } = await import('../audio/decode-pcm.ts')
    yield* decodePcm(bytes, rate)
  },
  async *page(bytes, { contentType }) {
    const { decodeText } = await import('../tools/charset.ts')
    const { pageText } = await import('../tools/page-text.ts')
    yield pageText(decodeText(bytes, contentType))
  },
}
