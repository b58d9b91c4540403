import type { Exchange } from './upstream-exchange.ts'
import { sendJson } from './upstream-fault.ts'

export interface EmbeddingAnswer {
  /** Length of each vector unless the request names `dimensions`. */
  readonly dimensions?: number
  /** Sends the vectors in reverse order, each with its correct `index`. */
  readonly reversed?: boolean
  /** Leaves this many vectors out at the end. */
  readonly missing?: number
}

export function sendEmbeddings(exchange: Exchange, answer: EmbeddingAnswer): void {
  const { body } = exchange.request
  const inputs = ([] as unknown[]).concat(body.input).map(String)
  const dimensions = Number(body.dimensions ?? answer.dimensions ?? 64)
  const data = inputs.slice(0, inputs.length - (answer.missing ?? 0)).map((text, index) => {
    const vector = hashVector(text, dimensions)
    const embedding =
      body.encoding_format === 'base64'
        ? Buffer.from(vector.buffer).toString('base64')
        : Array.from(vector)
    return { object: 'embedding', index, embedding }
  })
  if (answer.reversed) data.reverse()
  const tokens = inputs.join('').length
  const usage = { prompt_tokens: tokens, total_tokens: tokens }
  sendJson(exchange, 200, { object: 'list', data, model: body.model, usage })
}

/**
 * A unit vector that depends on the text only: each character and each pair of neighbours adds a
 * pattern, so texts that share words lie close together.
 */
export function hashVector(text: string, dimensions: number): Float32Array {
  const characters = [...text.toLowerCase()]
  const grams = characters.flatMap((character, at) => {
    const next = characters[at + 1]
    return next === undefined ? [character] : [character, character + next]
  })
  const vector = new Float32Array(dimensions)
  for (const gram of grams.length ? grams : ['']) {
    let state = Bun.hash.crc32(gram) || 1
    for (let at = 0; at < dimensions; at++) {
      state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9
      vector[at] = (vector[at] ?? 0) + ((state >>> 8) & 0xffff) / 0x8000 - 1
    }
  }
  const length = Math.hypot(...vector) || 1
  return vector.map((value) => value / length)
}
