import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { Tokenizer } from '@huggingface/tokenizers'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { joinParts } from '../../core/vector.ts'
import type { EmbedKind } from '../../upstream/ports/embedder.ts'
import { type EmbeddingModel, readModelFolder } from './model-folder.ts'
import { readTable } from './safetensors.ts'

/** A loaded model, in the embedding process. */
export interface LoadedModel {
  embed(texts: readonly string[], kind: EmbedKind): Promise<EmbeddedTexts>
}

interface EmbeddedTexts {
  readonly vectors: Float32Array[]
  /** Tokens of all texts that the model read. */
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

/** Groups sequences of similar length, which keeps padding small. */
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

/** Computes pooled vectors of token sequences, not yet of unit length. No piece may be empty. */
export interface Session {
  readonly dimensions: number
  run(pieces: readonly Piece[]): Promise<Float32Array[]>
}

/** Loads the weights. Throws for an unusable model; the message is for the operator. */
function openSession(model: EmbeddingModel): Promise<Session> {
  return model.kind === 'onnx' ? openOnnx(model) : openStatic(model)
}

/** A static model: a table of token vectors, whose mean is the vector of a text (model2vec). */
async function openStatic(model: EmbeddingModel): Promise<Session> {
  const { dimensions, values } = await readTable(model.weights, ['embeddings', 'embedding.weight'])
  const vectorOf = (piece: Piece) => {
    const rows = new Float32Array(piece.length * dimensions)
    for (const [t, id] of piece.entries()) {
      rows.set(values.subarray(id * dimensions, (id + 1) * dimensions), t * dimensions)
    }
    return meanOf(rows, piece.length, dimensions)
  }
  return { dimensions, run: async (pieces) => pieces.map(vectorOf) }
}

/** Half of the cores: the others are left to the server on the same machine. */
const threads = () => Math.max(1, availableParallelism() >> 1)

async function openOnnx(model: EmbeddingModel): Promise<Session> {
  const session = await InferenceSession.create(model.weights, {
    intraOpNumThreads: threads(),
    interOpNumThreads: 1,
  })
  const output = chooseOutput(session.outputNames, model)
  const run = async (pieces: readonly Piece[]) => {
    const answer = await session.run(feeds(session.inputNames, pieces))
    const tensor = answer[output]
    if (!tensor || !(tensor.data instanceof Float32Array)) throw new Error('no float32 output')
    return vectors(tensor.data, tensor.dims, pieces, model.pooling)
  }
  // No file states the dimensions reliably, so they are measured with one token.
  const probe = (await run([[0]]))[0]?.length ?? 0
  if (model.dimensions !== null && model.dimensions !== probe) {
    throw new Error(`the model gives ${probe} dimensions, model.json says ${model.dimensions}`)
  }
  return { dimensions: probe, run }
}

function chooseOutput(names: readonly string[], model: EmbeddingModel): string {
  const wanted = [model.output, ...(model.pooling === 'none' ? ['sentence_embedding'] : [])]
  const usual = ['last_hidden_state', 'token_embeddings', 'sentence_embedding', names[0]]
  const name = [...wanted, ...usual].find((one) => one != null && names.includes(one))
  if (!name) throw new Error('the model has no output')
  return name
}

/** Only the inputs that the graph lists: e5 exports, for example, have no token types. */
function feeds(names: readonly string[], pieces: readonly Piece[]): Record<string, Tensor> {
  const width = Math.max(...pieces.map((piece) => piece.length))
  const shape = [pieces.length, width]
  const cells = () => new BigInt64Array(pieces.length * width)
  const [ids, mask, positions] = [cells(), cells(), cells()]
  for (const [row, piece] of pieces.entries()) {
    for (const [column, id] of piece.entries()) {
      ids[row * width + column] = BigInt(id)
      mask[row * width + column] = 1n
      positions[row * width + column] = BigInt(column)
    }
  }
  const all: Record<string, BigInt64Array> = {
    input_ids: ids,
    attention_mask: mask,
    token_type_ids: cells(),
    position_ids: positions,
  }
  const entries = names.map((name) => {
    const values = all[name]
    if (!values) throw new Error(`the model wants an input that is not known: ${name}`)
    return [name, new Tensor('int64', values, shape)] as const
  })
  return Object.fromEntries(entries)
}

function vectors(
  data: Float32Array,
  dims: readonly number[],
  pieces: readonly Piece[],
  pooling: EmbeddingModel['pooling'],
): Float32Array[] {
  const [, second = 0, third] = dims
  if (third === undefined) {
    return pieces.map((_, row) => data.slice(row * second, (row + 1) * second))
  }
  const stride = second * third
  return pieces.map((piece, row) => {
    const rows = data.subarray(row * stride, (row + 1) * stride)
    return pooling === 'mean' ? meanOf(rows, piece.length, third) : rows.slice(0, third)
  })
}

/** The mean of the token vectors [tokens × dimensions] of one row; `tokens` excludes padding. */
function meanOf(rows: Float32Array, tokens: number, dimensions: number): Float32Array {
  const mean = new Float32Array(dimensions)
  for (let t = 0; t < tokens; t++) {
    for (let d = 0; d < dimensions; d++) {
      mean[d] = (mean[d] as number) + (rows[t * dimensions + d] as number) / tokens
    }
  }
  return mean
}
