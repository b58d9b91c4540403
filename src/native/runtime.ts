import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { getLoadablePath } from 'sqlite-vec'
import { type EmbeddedFile, type EmbeddedFiles, embedded } from './embedded.ts'

/** Where the native parts lie on disk, ready to be loaded. */
export interface NativeRuntime {
  /** The sqlite-vec extension, for `Database.loadExtension`. */
  readonly vec0: string
  /** The ONNX Runtime addon; null when run from source, where the package finds its own. */
  readonly onnxBinding: string | null
  /** Folder of the embedding model that is shipped with the product. */
  readonly modelDir: string
  /** Folder of the console's files; null when run from source without having built it. */
  readonly webDir: string | null
  /** Whether any part had to be written. */
  readonly copied: boolean
}

/**
 * Makes the native parts loadable. An executable copies them once to `<data>/runtime/<hash>/`, each
 * under a temporary name that is renamed when the bytes are on disk, so several processes may do
 * this at the same time. Folders of other versions are removed.
 */
export async function prepareRuntime(
  dataDir: string,
  source: EmbeddedFiles | null = embedded,
): Promise<NativeRuntime> {
  if (!source) {
    const root = join(import.meta.dir, '..', '..')
    const webDir = join(root, 'dist', 'web')
    const built = statSync(join(webDir, 'index.html'), { throwIfNoEntry: false })
    return {
      vec0: getLoadablePath(),
      onnxBinding: null,
      modelDir: join(root, 'models', 'default'),
      webDir: built ? webDir : null,
      copied: false,
    }
  }
  const base = join(dataDir, 'runtime')
  const folder = join(base, source.version)
  const written = await Promise.all(
    Object.entries(source.files).map(([name, file]) => place(file, join(folder, name))),
  )
  const copied = written.includes(true)
  if (copied) await removeOthers(base, source.version)
  return {
    vec0: join(folder, 'vec0.so'),
    onnxBinding: join(folder, 'onnxruntime_binding.node'),
    modelDir: join(folder, 'model'),
    webDir: join(folder, 'web'),
    copied,
  }
}

/** Whether the file had to be written. A disk that was full once leaves a wrong size behind. */
async function place(from: EmbeddedFile, to: string): Promise<boolean> {
  // Without waiting, for there are dozens of files, and nothing else to do meanwhile.
  const there = statSync(to, { throwIfNoEntry: false })
  if (there?.size === from.size) return false
  const { mkdir, rename, rm } = await import('node:fs/promises')
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  const fresh = `${to}.${Bun.randomUUIDv7()}.tmp`
  try {
    await writeSynced(from.path, fresh)
    await rename(fresh, to)
  } finally {
    await rm(fresh, { force: true })
  }
  return true
}

async function writeSynced(from: string, to: string): Promise<void> {
  const { open } = await import('node:fs/promises')
  const file = await open(to, 'w', 0o500)
  try {
    await file.writeFile(await Bun.file(from).bytes())
    await file.sync()
  } finally {
    await file.close()
  }
}

async function removeOthers(base: string, version: string): Promise<void> {
  const { readdir, rm } = await import('node:fs/promises')
  const stale = (await readdir(base)).filter((name) => name !== version)
  await Promise.all(stale.map((name) => rm(join(base, name), { recursive: true, force: true })))
}
