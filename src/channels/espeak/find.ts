import { join } from 'node:path'

export interface EspeakProgram {
  readonly path: string
  /** Folder of the pack that holds program and data; null for an installed program. */
  readonly pack: string | null
}

export interface EspeakPlaces {
  /** Folders that may hold `packs/espeak`: the data folder, the folder of the executable. */
  readonly folders: readonly string[]
  readonly which: (name: string) => string | null
  readonly exists: (path: string) => boolean
}

const NAMES = ['espeak-ng', 'espeak-ng.exe', 'bin/espeak-ng']

/**
 * eSpeak NG is under the GPL, so it is a program of its own and no part of the executable: a pack
 * that was put beside it, or what the machine has installed.
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
