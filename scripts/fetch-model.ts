// Downloads an embedding model from its hub, for MB_EMBED_MODEL_DIR. See --help.
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readArguments, runScript, UsageError } from './usage.ts'

interface HubModel {
  readonly repository: string
  /** Maps files of the repository to their names in the folder. */
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
const NAMES = Object.keys(MODELS)

const HELP = `Downloads an embedding model, with progress, and verifies the sha256 of files whose
hash the hub states. Files that exist already are not downloaded again.

  bun scripts/fetch-model.ts NAME [--base-url URL] [--into FOLDER]

  NAME             ${NAMES.join(`\n${' '.repeat(19)}`)}
  --base-url URL   the hub, or a mirror of it (${HUB})
  --into FOLDER    parent folder of the new folder NAME (models)

Then start the server with MB_EMBED_MODEL_DIR=FOLDER/NAME.
`

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

/** The sha256 that the hub sends as the entity tag of large files; null for others. */
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

function readOptions(args: string[]) {
  const { values, positionals } = readArguments({
    args,
    allowPositionals: true,
    options: {
      'base-url': { type: 'string', default: HUB },
      into: { type: 'string', default: join(import.meta.dir, '..', 'models') },
    },
  })
  const [name = '', ...more] = positionals
  const model = Object.hasOwn(MODELS, name) ? MODELS[name] : undefined
  if (!model || more.length > 0) throw new UsageError(`name one model of ${NAMES.join(', ')}`)
  return { name, model, hub: values['base-url'], folder: join(values.into, name) }
}

type Options = ReturnType<typeof readOptions>

async function fetchModel({ name, model, hub, folder }: Options): Promise<void> {
  for (const [remote, local] of Object.entries(model.files)) {
    const path = join(folder, local)
    if (existsSync(path)) continue
    const url = `${hub}/${model.repository}/resolve/main/${remote}`
    await download(url, path, local)
  }
  const settings = { name, ...model.settings }
  await Bun.write(join(folder, 'model.json'), `${JSON.stringify(settings, null, 2)}\n`)
  process.stdout.write(`Start the server with MB_EMBED_MODEL_DIR=${folder}\n`)
}

await runScript(HELP, async (args) => {
  const options = readOptions(args)
  try {
    await fetchModel(options)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  }
})
