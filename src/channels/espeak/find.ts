import { join } from 'node:path'

export interface EspeakProgram {
  readonly path: string
  /** Folder of the pack with program and data; null for an installed program. */
  readonly pack: string | null
}

export interface EspeakPlaces {
  /** Folders that may contain `packs/espeak`: the data folder, the folder of the executable. */
  readonly folders: readonly string[]
  readonly which: (name: string) => string | null
  readonly exists: (path: string) => boolean
}

const NAMES = ['espeak-ng', 'espeak-ng.exe', 'bin/espeak-ng']

/**
 * Looks for eSpeak NG in a pack beside the data or the executable, then on PATH. It is under the
 * GPL and therefore a separate program, not a part of the executable.
 */
export function findEspeak({ folders, which, exists }: EspeakPlaces): EspeakProgram | null {
  for (const folder of folders) {
    const pack = join(folder, 'packs', 'espeak')
    const path = NAMES.map((name) => join(pack, name)).find(exists)
    if (path !== undefined) return { path, pack }
  }
  const path = which('espeak-ng')
  return path === null ? null : { path, pack: null }
}
