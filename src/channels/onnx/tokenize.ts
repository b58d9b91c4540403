import { readFile } from 'node:fs/promises'
import { Tokenizer } from '@huggingface/tokenizers'
import type { EmbeddingModel } from './model-folder.ts'

/** Token ids of one piece of a text; a text under the model's limit is one piece. */
export type Piece = readonly number[]

/** Turns texts into the token ids of one model. */
export type Tokenize = (text: string, prefix: string) => Piece[]

/**
 * A text longer than the model's limit is halved until each piece fits; the caller averages the
 * vectors of the pieces.
 */
export async function openTokenizer(model: EmbeddingModel): Promise<Tokenize> {
  const config = await readFile(model.tokenizerConfig, 'utf8').catch(() => '{}')
  const definition = JSON.parse(await readFile(model.tokenizer, 'utf8'))
  const tokenizer = new Tokenizer(definition, JSON.parse(config))
  const unknown = model.kind === 'static' ? tokenizer.token_to_id(unknownToken(definition)) : null

  function encode(text: string): number[] {
    const { ids } = tokenizer.encode(text, { add_special_tokens: model.specialTokens })
    // A static model has no vector for unknown tokens (model2vec).
    return unknown == null ? ids : ids.filter((id) => id !== unknown)
  }

  return function tokenize(text, prefix): Piece[] {
    const ids = encode(prefix + text)
    if (ids.length <= model.tokensMax) return [ids]
    const chars = [...text]
    if (chars.length < 2) return [ids.slice(0, model.tokensMax)]
    const half = chars.length >> 1
    return [
      ...tokenize(chars.slice(0, half).join(''), prefix),
      ...tokenize(chars.slice(half).join(''), prefix),
    ]
  }
}

function unknownToken(definition: { model?: { unk_token?: unknown } }): string {
  const token = definition.model?.unk_token
  return typeof token === 'string' ? token : '[UNK]'
}
