import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** The purpose of a model of the pack. */
export type PackModelKind = 'chat' | 'embed' | 'rerank'

/** The files that run models on this machine without another service. */
export interface ModelPack {
  readonly folder: string
  /** `llama-server` of llama.cpp, or a llamafile. */
  readonly program: string
  /** The GGUF file of each kind; null when the chat model is inside the llamafile. */
  readonly models: Readonly<Partial<Record<PackModelKind, string | null>>>
}

export interface ModelPackFinding {
  /** Null unless there is a program and a model. */
  readonly pack: ModelPack | null
  /** The pack's folder, or the first place where it is looked for. */
  readonly folder: string
  readonly exists: boolean
  /** The program and the models that are there, also while the other is missing. */
  readonly program: string | null
  readonly models: ModelPack['models']
  /** The missing parts, in words for the operator. */
  readonly missing: readonly string[]
}

/** An archive of llama.cpp is unpacked into a folder such as `llama-b7000`. */
const UNPACKED = /^llama-b\d+$/
const PROGRAMS = ['llama-server', 'llama-server.exe', 'bin/llama-server', 'build/bin/llama-server']

/** Files after the first of a model in several files: llama.cpp finds them by the first. */
const LATER_PART = /-(?!0*1-of-)\d+-of-\d+\.gguf$/i

const kindOf = (name: string): PackModelKind => {
  if (/rerank/i.test(name)) return 'rerank'
  return /embed/i.test(name) ? 'embed' : 'chat'
}

/** Looks for `packs/model` beside the data and beside the executable. */
export function findModelPack(folders: readonly string[]): ModelPackFinding {
  const packs = folders.map((folder) => resolve(folder, 'packs', 'model'))
  const found = packs.filter(existsSync).map(lookInto)
  const [first = ''] = packs
  const nothing = { pack: null, program: null, models: {} }
  const absent = { ...nothing, folder: first, exists: false, missing: [`the folder ${first}`] }
  return found.find(({ pack }) => pack !== null) ?? found[0] ?? absent
}

function lookInto(folder: string): ModelPackFinding {
  const names = readdirSync(folder).sort()
  const llamafile = names.find((name) => name.endsWith('.llamafile'))
  const unpacked = names.filter((each) => UNPACKED.test(each)).map((each) => `${each}/llama-server`)
  const name =
    [...PROGRAMS, ...unpacked].find((path) => existsSync(join(folder, path))) ?? llamafile
  const models: Partial<Record<PackModelKind, string | null>> = {}
  for (const file of names) {
    if (!/\.gguf$/i.test(file) || LATER_PART.test(file) || /mmproj/i.test(file)) continue
    models[kindOf(file)] ??= join(folder, file)
  }
  // Most llamafiles carry their model.
  if (Object.keys(models).length === 0 && name === llamafile && name) models.chat = null
  const missing = [
    ...(name === undefined ? [`llama-server or a *.llamafile in ${folder}`] : []),
    ...(name && !isProgram(join(folder, name)) ? [`the right to run ${name} (chmod +x)`] : []),
    ...(Object.keys(models).length === 0 ? [`a *.gguf file in ${folder}`] : []),
  ]
  const program = name === undefined ? null : join(folder, name)
  const pack = program && missing.length === 0 ? { folder, program, models } : null
  return { pack, folder, exists: true, program, models, missing }
}

/** Whether the file is executable, which a fresh download is not. */
function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
