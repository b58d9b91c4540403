import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { modelIn, namesIn, type RecognitionModel } from './model-files.ts'

/** What the recognising process loads. */
export interface VoicePack {
  readonly folder: string
  /** `sherpa-onnx.node`; the libraries it needs lie beside it. */
  readonly library: string
  readonly model: RecognitionModel
  /** `silero_vad.onnx`, which finds speech better than loudness does; null without it. */
  readonly vad: string | null
}

export interface PackPlaces {
  /** Folders that may hold `packs/voice`: the data folder, the folder of the executable. */
  readonly folders: readonly string[]
  /** Such as `linux-x64`. */
  readonly platform: string
  /** Folder of the model to use; undefined: the first one, SenseVoice before others. */
  readonly modelName: string | undefined
}

export interface PackFinding {
  /** Null unless everything is there. */
  readonly pack: VoicePack | null
  /** The pack's folder, or where it would be looked for first. */
  readonly folder: string
  readonly exists: boolean
  /** What is not there, in words for the operator. */
  readonly missing: readonly string[]
}

const LIBRARY = 'sherpa-onnx.node'

/**
 * sherpa-onnx holds parts under the GPL, so it is no part of the executable: a pack that was put
 * beside the data or the executable, and is loaded by a process of its own.
 */
export function findVoicePack({ folders, platform, modelName }: PackPlaces): PackFinding {
  const packs = folders.map((folder) => resolve(folder, 'packs', 'voice'))
  const found = packs.filter(existsSync).map((folder) => lookInto(folder, platform, modelName))
  const [first = ''] = packs
  const absent = { pack: null, folder: first, exists: false, missing: [`the folder ${first}`] }
  return found.find(({ pack }) => pack !== null) ?? found[0] ?? absent
}

function lookInto(folder: string, platform: string, modelName: string | undefined): PackFinding {
  const library = firstFile([
    join(folder, 'native', platform, LIBRARY),
    join(folder, 'native', LIBRARY),
    join(folder, `sherpa-onnx-${platform}`, LIBRARY),
    join(folder, 'package', LIBRARY),
    join(folder, LIBRARY),
  ])
  const model = chooseModel(folder, modelName)
  if (library !== null && model !== null) {
    const vad = firstFile([
      join(folder, 'models', 'vad', 'silero_vad.onnx'),
      join(folder, 'silero_vad.onnx'),
    ])
    return { pack: { folder, library, model, vad }, folder, exists: true, missing: [] }
  }
  const models = join(folder, 'models', 'asr')
  const named = modelName ?? 'NAME'
  const missing = [
    ...(library ? [] : [`${LIBRARY} of ${platform} in ${join(folder, 'native', platform)}`]),
    ...(model
      ? []
      : [`a whole model, such as model.int8.onnx and tokens.txt, in ${join(models, named)}`]),
  ]
  return { pack: null, folder, exists: true, missing }
}

/** The operator's choice, else SenseVoice, else the first by name. */
function chooseModel(folder: string, modelName: string | undefined): RecognitionModel | null {
  const shelf = join(folder, 'models', 'asr')
  const places = [...below(shelf), shelf, ...below(folder), folder]
  const models = places.flatMap((place) => modelIn(place) ?? [])
  if (modelName !== undefined) return models.find(({ name }) => name === modelName) ?? null
  return models.find(({ kind }) => kind === 'sense-voice') ?? models[0] ?? null
}

const below = (folder: string) => namesIn(folder).map((name) => join(folder, name))

function firstFile(paths: readonly string[]): string | null {
  return paths.find((path) => statSync(path, { throwIfNoEntry: false })?.isFile()) ?? null
}
