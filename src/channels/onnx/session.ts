import { availableParallelism } from 'node:os'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import type { Piece } from './model.ts'
import type { EmbeddingModel } from './model-folder.ts'
import { readTable } from './safetensors.ts'

/** Computes pooled vectors of token sequences, not yet of unit length. No piece may be empty. */
export interface Session {
  readonly dimensions: number
  run(pieces: readonly Piece[]): Promise<Float32Array[]>
}

/** Loads the weights. Throws for an unusable model, with words for the operator. */
export function openSession(model: EmbeddingModel): Promise<Session> {
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

/** Half of the cores, so that embedding never starves the server on the same box. */
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
