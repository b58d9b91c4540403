import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fsyncSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { getLoadablePath } from 'sqlite-vec'
import { lstatOrNull, makeFolder, openPrivate } from '../core/private-files.ts'
import { type EmbeddedFile, type EmbeddedFiles, embedded } from './embedded.ts'

/** Where the native parts lie on disk, ready to be loaded. */
export interface NativeRuntime {
  /** The sqlite-vec extension, for `Database.loadExtension`. */
  readonly vec0: string
  /** The ONNX Runtime addon; null when run from source, where the package finds its own. */
  readonly onnxBinding: string | null
  /** Folder of the embedding model that is shipped with the product. */
  readonly modelDir: string
  /** Names of existing parts with wrong contents, which were written again. */
  readonly replaced: readonly string[]
}

/** The environment of processes that load the ONNX Runtime. */
export const onnxEnv = ({ onnxBinding }: Pick<NativeRuntime, 'onnxBinding'>) =>
  onnxBinding === null ? {} : { MOONBASE_ONNX_BINDING: onnxBinding }

type IsChecked = (name: string) => boolean

/** 55 MB that only the embedding process loads; it checks them first. */
const OF_EMBEDDING = /^(onnxruntime_binding\.node|libonnxruntime\.so\.1$|model\/)/
const isOfEmbedding: IsChecked = (name) => OF_EMBEDDING.test(name)
const isOfServer: IsChecked = (name) => !isOfEmbedding(name)
export const everyPart: IsChecked = () => true

/**
 * Makes the native parts loadable. An executable copies them once to `<data>/runtime/<hash>/`, each
 * under a temporary name that is renamed when the bytes are on disk, so several processes may do
 * this at the same time. An existing part is compared by size and, with `isChecked`, by SHA-256,
 * and written again when it differs. Folders of other versions are removed.
 */
export async function prepareRuntime(
  dataDir: string,
  source: EmbeddedFiles | null = embedded,
  isChecked = isOfServer,
): Promise<NativeRuntime> {
  if (!source) return runtimeOfSources()
  const base = join(dataDir, 'runtime')
  const folder = join(base, source.version)
  for (const path of [base, folder]) makeFolder(path)
  const { written, replaced } = await placeAll(folder, source.files, isChecked)
  if (written) removeOthers(base, source.version)
  return {
    vec0: join(folder, 'vec0.so'),
    onnxBinding: join(folder, 'onnxruntime_binding.node'),
    modelDir: join(folder, 'model'),
    replaced,
  }
}

/** Checks and repairs the parts that the embedding process is about to load from `folder`. */
export async function mendEmbeddingParts(
  folder: string,
  source: EmbeddedFiles | null = embedded,
): Promise<void> {
  const parts = Object.entries(source?.files ?? {}).filter(([name]) => isOfEmbedding(name))
  await placeAll(folder, Object.fromEntries(parts), everyPart)
}

const root = join(import.meta.dir, '..', '..')

function runtimeOfSources(): NativeRuntime {
  return {
    vec0: getLoadablePath(),
    onnxBinding: null,
    modelDir: join(root, 'models', 'default'),
    replaced: [],
  }
}

/** Folder of the console's files; null when run from source without having built it. */
export function consoleFolder(): string | null {
  const sources = join(root, 'dist', 'web', 'index.html')
  const pages = embedded?.web ?? (existsSync(sources) ? [sources] : [])
  const page = pages.find((path) => basename(path) === 'index.html')
  return page === undefined ? null : dirname(page)
}

async function placeAll(folder: string, files: EmbeddedFiles['files'], isChecked: IsChecked) {
  const replaced: string[] = []
  let written = false
  const folders = new Set(Object.keys(files).map(dirname))
  for (const name of [...folders].sort()) makeFolder(join(folder, name))
  for (const [name, file] of Object.entries(files)) {
    const to = join(folder, name)
    const there = lstatOrNull(to)
    // A full disk may have left a part of the wrong size.
    const whole = there?.isFile() === true && there.size === file.size
    if (whole && (!isChecked(name) || sha256Of(to, file.size) === file.sha256)) continue
    await write(file, to)
    written = true
    if (there && (whole || !there.isFile())) replaced.push(name)
  }
  return { written, replaced }
}

/** Writes the file under a temporary name and renames it over whatever is at `to`. */
async function write(from: EmbeddedFile, to: string): Promise<void> {
  const draft = `${to}.${Bun.randomUUIDv7()}.tmp`
  try {
    // From file to file: reading the largest part would leave 60 MB in the process.
    await Bun.write(draft, Bun.file(from.path))
    const file = openPrivate(draft, constants.O_RDONLY)
    try {
      fchmodSync(file, 0o500)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(draft, to)
  } finally {
    rmSync(draft, { force: true })
  }
}

const BLOCK_BYTES = 1024 * 1024

/** The SHA-256 of a file of `size` bytes; the buffer is no larger than a small file. */
function sha256Of(path: string, size: number): string {
  const file = openPrivate(path, constants.O_RDONLY)
  try {
    const hash = new Bun.CryptoHasher('sha256')
    const block = new Uint8Array(Math.min(size, BLOCK_BYTES))
    for (let length = readSync(file, block); length > 0; length = readSync(file, block)) {
      hash.update(block.subarray(0, length))
    }
    return hash.digest('hex')
  } finally {
    closeSync(file)
  }
}

function removeOthers(base: string, version: string): void {
  for (const name of readdirSync(base)) {
    if (name !== version) rmSync(join(base, name), { recursive: true, force: true })
  }
}
