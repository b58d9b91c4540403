// Downloads an embedding model from its hub into models/NAME, for MB_EMBED_MODEL_DIR:
//   bun scripts/fetch-model.ts NAME [--base-url URL] [--into FOLDER]
// With progress, and checked against the hub's sha256 where it tells one. Without arguments lists
// the models it knows.
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'

interface HubModel {
  readonly repository: string
  /** File in the repository, mapped to its name in the folder. */
  readonly files: Readonly<Record<string, string>>
  readonly settings: Readonly<Record<string, string | number | boolean>>
}

const ONNX = {
  'onnx/model_quantized.onnx': 'model.onnx',
  'tokenizer.json': 'tokenizer.json',
  'tokenizer_config.json': 'tokenizer_config.json',
}
const STATIC = {
  'model.safetensors': 'model.safetensors',
  'tokenizer.json': 'tokenizer.json',
  'config.json': 'config.json',
}

const MODELS: Readonly<Record<string, HubModel>> = {
  'bge-small-zh-v1.5': {
    repository: 'Xenova/bge-small-zh-v1.5',
    files: ONNX,
    settings: {
      dimensions: 512,
      pooling: 'cls',
      query_prefix: '为这个句子生成表示以用于检索相关文章：',
      passage_prefix: '',
      max_tokens: 512,
    },
  },
  'multilingual-e5-small': {
    repository: 'Xenova/multilingual-e5-small',
    files: ONNX,
    settings: {
      dimensions: 384,
      pooling: 'mean',
      query_prefix: 'query: ',
      passage_prefix: 'passage: ',
      max_tokens: 512,
    },
  },
  'all-MiniLM-L6-v2': {
    repository: 'Xenova/all-MiniLM-L6-v2',
    files: ONNX,
    settings: { dimensions: 384, pooling: 'mean', max_tokens: 256 },
  },
  'potion-multilingual-128M': {
    repository: 'minishlab/potion-multilingual-128M',
    files: STATIC,
    settings: { dimensions: 256 },
  },
}

const HUB = 'https://huggingface.co'

async function download(url: string, path: string, label: string): Promise<void> {
  const response = await fetch(url)
  if (!response.ok || !response.body)
    throw new Error(`${label}: the hub answered ${response.status}`)
  const total = Number(response.headers.get('content-length')) || null
  const stated = statedHash(response)
  mkdirSync(dirname(path), { recursive: true })
  const hash = new Bun.CryptoHasher('sha256')
  const partial = `${path}.part`
  const sink = Bun.file(partial).writer()
  let bytes = 0
  for await (const chunk of response.body) {
    hash.update(chunk)
    sink.write(chunk)
    await sink.flush()
    bytes += chunk.length
    progress(label, bytes, total)
  }
  await sink.end()
  const got = hash.digest('hex')
  if ((total !== null && bytes !== total) || (stated !== null && stated !== got)) {
    rmSync(partial)
    throw new Error(`${label}: what arrived is not what the hub has; try again`)
  }
  renameSync(partial, path)
  process.stderr.write(
    `\r${label}: ${megabytes(bytes)}, sha256 ${got}${stated ? ', as stated' : ''}\n`,
  )
}

/** The sha256 that the hub tells of large files, as an entity tag; null for others. */
function statedHash(response: Response): string | null {
  const tags = ['x-linked-etag', 'etag'].map((name) => response.headers.get(name) ?? '')
  return tags.map((tag) => /^(?:W\/)?"?([0-9a-f]{64})"?$/.exec(tag)?.[1]).find(Boolean) ?? null
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`

function progress(label: string, bytes: number, total: number | null): void {
  if (!process.stderr.isTTY) return
  const share = total === null ? '' : ` of ${megabytes(total)}`
  process.stderr.write(`\r${label}: ${megabytes(bytes)}${share}`)
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      'base-url': { type: 'string', default: HUB },
      into: { type: 'string', default: join(import.meta.dir, '..', 'models') },
    },
  })
  const name = positionals[0] ?? ''
  const model = MODELS[name]
  if (!model)
    throw new Error(`usage: fetch-model.ts NAME; known: ${Object.keys(MODELS).join(', ')}`)
  const folder = join(values.into, name)
  for (const [remote, local] of Object.entries(model.files)) {
    const path = join(folder, local)
    if (existsSync(path)) continue
    const url = `${values['base-url']}/${model.repository}/resolve/main/${remote}`
    await download(url, path, local)
  }
  const settings = { name, ...model.settings }
  await Bun.write(join(folder, 'model.json'), `${JSON.stringify(settings, null, 2)}\n`)
  process.stdout.write(`Start the server with MB_EMBED_MODEL_DIR=${folder}\n`)
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
