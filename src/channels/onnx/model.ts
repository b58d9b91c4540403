import { readFile } from 'node:fs/promises'
import { Tokenizer } from '@huggingface/tokenizers'
import { joinParts } from '../../core/vector.ts'
import type { EmbedKind } from '../ports/embedder.ts'
import { type EmbeddingModel, readModelFolder } from './model-folder.ts'
import { openSession } from './session.ts'

/** A loaded model, in the embedding process. */
export interface LoadedModel {
  embed(texts: readonly string[], kind: EmbedKind): Promise<EmbeddedTexts>
}

interface EmbeddedTexts {
  readonly vectors: Float32Array[]
  /** How many the model read of all texts. */
  readonly tokens: number
}

/** Padded tokens of one run, to bound its memory. */
const BATCH_TOKENS_MAX = 4096

/** Throws `ModelFolderError`, or the runtime's error for weights that it cannot load. */
export async function loadModel(dir: string): Promise<LoadedModel> {
  const model = await readModelFolder(dir)
  const [tokenize, session] = await Promise.all([openTokenizer(model), openSession(model)])

  return {
    async embed(texts, kind) {
      const prefix = kind === 'query' ? model.queryPrefix : model.passagePrefix
      const pieces = texts.flatMap((text, owner) =>
        tokenize(text, prefix).map((ids) => ({ ids, owner })),
      )
      const parts = texts.map((): { vector: Float32Array; weight: number }[] => [])
      for (const batch of batches(pieces.filter(({ ids }) => ids.length > 0))) {
        const vectors = await session.run(batch.map(({ ids }) => ids))
        for (const [i, { ids, owner }] of batch.entries()) {
          parts[owner]?.push({ vector: vectors[i] as Float32Array, weight: ids.length })
        }
      }
      const nothing = { vector: new Float32Array(session.dimensions), weight: 0 }
      return {
        vectors: parts.map((own) => joinParts([nothing, ...own])),
        tokens: pieces.reduce((sum, { ids }) => sum + ids.length, 0),
      }
    },
  }
}

/** Groups sequences of similar length, to compute little padding. */
function batches<T extends { ids: Piece }>(pieces: readonly T[]): T[][] {
  const groups: T[][] = []
  let group: T[] = []
  for (const piece of [...pieces].sort((a, b) => a.ids.length - b.ids.length)) {
    if (group.length > 0 && (group.length + 1) * piece.ids.length > BATCH_TOKENS_MAX) {
      groups.push(group)
      group = []
    }
    group.push(piece)
  }
  return group.length > 0 ? [...groups, group] : groups
}

/** Token ids of one piece of a text; a text under the model's limit is one piece. */
export type Piece = readonly number[]

/** Turns texts into the token ids of one model. */
export type Tokenize = (text: string, prefix: string) => Piece[]

/**
 * A text longer than the model's limit is halved until each piece fits; the caller averages the
 * vectors of the pieces.
 */
async function openTokenizer(model: EmbeddingModel): Promise<Tokenize> {
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
