import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { THRESHOLD } from './score-scale.ts'

/** How token vectors become one: the first one, their mean, or none, when the graph does it. */
const pooling = z.enum(['cls', 'mean', 'none'])

const modelJson = z
  .object({
    name: z.string(),
    dimensions: z.number().int().positive(),
    pooling: z.union([pooling, z.string().startsWith('none')]),
    /** Output of the graph to read; default: the sentence vector when there is one. */
    output: z.string(),
    add_special_tokens: z.boolean(),
    query_prefix: z.string(),
    passage_prefix: z.string(),
    max_tokens: z.number().int().positive(),
    /** The cosine from which a passage is worth showing, on this model's own scale. */
    relevant_cosine: z.number().gt(-1).lt(1),
    /**
     * The same for a question and a passage of which only one is Chinese; below `relevant_cosine`.
     */
    relevant_cosine_across: z.number().gt(-1).lt(THRESHOLD),
    /** Whether the vector of a single word represents its meaning, as in static models. */
    word_vectors: z.boolean(),
  })
  .partial()
  .refine(
    ({ relevant_cosine: within, relevant_cosine_across: across }) =>
      across === undefined || (within !== undefined && across <= within && within <= THRESHOLD),
    { path: ['relevant_cosine_across'] },
  )

export interface EmbeddingModel {
  readonly name: string
  /** Names the vector space: changes with everything that changes the vectors of passages. */
  readonly id: string
  readonly kind: 'onnx' | 'static'
  /** `model.onnx`, or the table of a static model. */
  readonly weights: string
  readonly tokenizer: string
  readonly tokenizerConfig: string
  readonly dimensions: number | null
  readonly pooling: z.infer<typeof pooling>
  readonly output: string | null
  readonly specialTokens: boolean
  readonly queryPrefix: string
  readonly passagePrefix: string
  readonly tokensMax: number
  readonly relevantCosine: number | null
  readonly relevantAcross: number | null
  readonly wordVectors: boolean
}

/** The folder is not a model; the message says what is missing, for the operator. */
export class ModelFolderError extends Error {
  override readonly name = 'ModelFolderError'
}

const WEIGHTS = ['model', 'onnx/model', 'model_quantized', 'onnx/model_quantized']
const TOKENS_MAX_DEFAULT = 512
/** Tokenizers without a limit declare an absurd one, such as 1e30. */
const TOKENS_MAX_SANE = 8192

/**
 * Reads the settings of a model folder: `model.json` (or `embedding.json`), and for missing ones
 * the files of a usual sentence-transformers or model2vec export.
 */
export async function readModelFolder(dir: string): Promise<EmbeddingModel> {
  const onnx = WEIGHTS.map((name) => join(dir, `${name}.onnx`)).find(existsSync)
  const weights = onnx ?? [join(dir, 'model.safetensors')].find(existsSync)
  const tokenizer = join(dir, 'tokenizer.json')
  if (!weights) throw new ModelFolderError(`no model.onnx or model.safetensors in ${dir}`)
  if (!existsSync(tokenizer)) throw new ModelFolderError(`no tokenizer.json in ${dir}`)
  const tokenizerConfig = join(dir, 'tokenizer_config.json')
  const said = statedSettings(dir)
  const export_ = exportSettings(dir, tokenizerConfig)
  const kind = onnx ? 'onnx' : 'static'
  const model = {
    name: said.name ?? export_.name ?? basename(dir),
    kind,
    weights,
    tokenizer,
    tokenizerConfig,
    dimensions: said.dimensions ?? null,
    pooling: pooling.parse(said.pooling?.split(' ')[0] ?? export_.pooling),
    output: said.output ?? null,
    specialTokens: said.add_special_tokens ?? kind === 'onnx',
    queryPrefix: said.query_prefix ?? export_.queryPrefix,
    passagePrefix: said.passage_prefix ?? export_.passagePrefix,
    tokensMax: said.max_tokens ?? export_.tokensMax,
    relevantCosine: said.relevant_cosine ?? null,
    relevantAcross: said.relevant_cosine_across ?? null,
    wordVectors: said.word_vectors ?? false,
  } as const
  return { ...model, id: spaceId(model) }
}

function statedSettings(dir: string): z.infer<typeof modelJson> {
  for (const name of ['model.json', 'embedding.json']) {
    const content = readJson(join(dir, name))
    if (content === null) continue
    const parsed = modelJson.safeParse(content, { jitless: true })
    if (parsed.success) return parsed.data
    const field = parsed.error.issues[0]?.path.join('.')
    throw new ModelFolderError(`${name} in ${dir}: wrong value of ${field || 'the whole'}`)
  }
  return {}
}

/** The settings in the files of an export; where they are silent, those of known models. */
function exportSettings(dir: string, tokenizerConfig: string) {
  const config = readJson(join(dir, 'config.json'))
  const transformer = readJson(join(dir, 'sentence_bert_config.json'))
  const prompts = readJson(join(dir, 'config_sentence_transformers.json'))?.prompts
  const pool = readJson(join(dir, '1_Pooling', 'config.json'))
  const tokens = readJson(tokenizerConfig)
  const name = text(config?._name_or_path)
  const known = knownModel(`${name ?? ''} ${basename(dir)}`)
  const limits = [transformer?.max_seq_length, tokens?.model_max_length]
  const limit = limits.find((n): n is number => typeof n === 'number' && n <= TOKENS_MAX_SANE)
  const prompt = (key: string) => text((prompts as Record<string, unknown> | undefined)?.[key])
  return {
    name,
    pooling: pool ? (pool.pooling_mode_cls_token === true ? 'cls' : 'mean') : known.pooling,
    queryPrefix: prompt('query') ?? known.queryPrefix,
    passagePrefix: prompt('passage') ?? prompt('document') ?? known.passagePrefix,
    tokensMax: limit ?? TOKENS_MAX_DEFAULT,
  }
}

const text = (value: unknown) => (typeof value === 'string' && value ? value : null)

function readJson(path: string): Record<string, unknown> | null {
  const content = readText(path)
  if (content === null) return null
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(content), { jitless: true })
  } catch {
    throw new ModelFolderError(`${path} is not a JSON object`)
  }
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

function spaceId(model: Omit<EmbeddingModel, 'id'>): string {
  const hash = new Bun.CryptoHasher('sha256')
  const { pooling, output, specialTokens, passagePrefix, tokensMax } = model
  hash.update(JSON.stringify([pooling, output, specialTokens, passagePrefix, tokensMax]))
  for (const path of [model.weights, model.tokenizer]) hashSample(hash, path)
  return `${model.name}:${hash.digest('hex').slice(0, 16)}`
}

const SAMPLE_BYTES = 1 << 18

/**
 * Hashes the size, beginning, middle and end: weights may have gigabytes, and differ everywhere.
 */
function hashSample(hash: Bun.CryptoHasher, path: string): void {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    hash.update(String(size))
    const buffer = Buffer.allocUnsafe(SAMPLE_BYTES)
    for (const part of [0, 0.5, 1]) {
      const at = Math.max(0, Math.floor((size - SAMPLE_BYTES) * part))
      hash.update(buffer.subarray(0, readSync(file, buffer, 0, SAMPLE_BYTES, at)))
    }
  } finally {
    closeSync(file)
  }
}

/**
 * Settings from the model cards of common model families, which exports often omit. `model.json` in
 * the folder overrides them.
 */
export interface KnownModel {
  readonly pooling: 'cls' | 'mean'
  readonly queryPrefix: string
  readonly passagePrefix: string
}

const PLAIN: KnownModel = { pooling: 'mean', queryPrefix: '', passagePrefix: '' }

const FAMILIES: readonly (readonly [RegExp, KnownModel])[] = [
  [
    /\bbge-(?:small|base|large)-zh\b/i,
    { pooling: 'cls', queryPrefix: '为这个句子生成表示以用于检索相关文章：', passagePrefix: '' },
  ],
  [
    /\bbge-(?:small|base|large)-en\b/i,
    {
      pooling: 'cls',
      queryPrefix: 'Represent this sentence for searching relevant passages: ',
      passagePrefix: '',
    },
  ],
  [/\bbge-m3\b/i, { ...PLAIN, pooling: 'cls' }],
  [/\be5-/i, { pooling: 'mean', queryPrefix: 'query: ', passagePrefix: 'passage: ' }],
]

/** `name`: any name of the model, such as its hub path or its folder. */
function knownModel(name: string): KnownModel {
  return FAMILIES.find(([pattern]) => pattern.test(name))?.[1] ?? PLAIN
}
