import { z } from 'zod'
import { parseUntrustedJson } from '../../core/json.ts'
import { normalize } from '../../core/vector.ts'
import { ChannelFailure } from '../ports/failure.ts'

const Answer = z.object({
  data: z.array(
    z.object({
      index: z.number().int().nullish(),
      embedding: z.union([z.array(z.number()), z.string()]),
    }),
  ),
})

/**
 * The vectors of an `/embeddings` answer, in the order of the inputs and of unit length. Throws
 * `ChannelFailure` for anything else than `count` vectors of one length.
 */
export function readVectors(text: string, count: number): Float32Array[] {
  const parsed = Answer.safeParse(parse(text))
  if (!parsed.success) throw malformed('not an embeddings answer')
  const vectors: (Float32Array | undefined)[] = new Array(count).fill(undefined)
  for (const [place, { index, embedding }] of parsed.data.data.entries()) {
    const at = index ?? place
    if (at < 0 || at >= count) throw malformed('vectors out of place')
    vectors[at] = toVector(embedding)
  }
  const dimensions = vectors[0]?.length ?? 0
  return Array.from(vectors, (vector) => {
    if (!vector || vector.length !== dimensions) throw malformed('vectors missing or uneven')
    if (!vector.every(Number.isFinite)) throw malformed('vectors not finite')
    return normalize(vector)
  })
}

function toVector(embedding: readonly number[] | string): Float32Array {
  if (typeof embedding !== 'string') return Float32Array.from(embedding)
  const bytes = Buffer.from(embedding, 'base64')
  if (bytes.length === 0 || bytes.length % 4 !== 0) throw malformed('vectors not readable')
  return new Float32Array(new Uint8Array(bytes).buffer)
}

function parse(text: string): unknown {
  try {
    return parseUntrustedJson(text)
  } catch {
    return null
  }
}

function malformed(phrase: string): ChannelFailure {
  return new ChannelFailure('provider_error', phrase)
}
