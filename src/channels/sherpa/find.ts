import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'

/** A recognition model that sherpa-onnx can run, and its files. */
export interface RecognitionModel {
  /** Name of its folder. */
  readonly name: string
  readonly kind: 'sense-voice' | 'paraformer' | 'zipformer-ctc' | 'whisper' | 'transducer'
  readonly tokens: string
  /** The part of sherpa-onnx's `modelConfig` for this kind. */
  readonly config: Readonly<Record<string, Readonly<Record<string, string | number>>>>
}

/** The files that the recogniser process loads. */
export interface VoicePack {
  readonly folder: string
  /** `sherpa-onnx.node`, in the same folder as the libraries it needs. */
  readonly library: string
  readonly model: RecognitionModel
  /** `silero_vad.onnx`; without it (null) speech is found by loudness. */
  readonly vad: string | null
}

export interface PackPlaces {
  /** Folders that may contain `packs/voice`: the data folder, the folder of the executable. */
  readonly folders: readonly string[]
  /** Such as `linux-x64`. */
  readonly platform: string
  /** Folder of the model to use; undefined: SenseVoice, else the first by name. */
  readonly modelName: string | undefined
}

export interface PackFinding {
  /** Null unless the pack is complete. */
  readonly pack: VoicePack | null
  /** The pack's folder, or the first place where it is looked for. */
  readonly folder: string
  readonly exists: boolean
  /** The missing parts, in words for the operator. */
  readonly missing: readonly string[]
}

const LIBRARY = 'sherpa-onnx.node'

/**
 * Looks for the voice pack beside the data and beside the executable. sherpa-onnx has parts under
 * the GPL, so it is not a part of the executable and is loaded by a separate process.
 */
export function findVoicePack({ folders, platform, modelName }: PackPlaces): PackFinding {
  const packs = folders.map((folder) => resolve(folder, 'packs', 'voice'))
  const found = packs.filter(existsSync).map((folder) => lookInto(folder, platform, modelName))
  const [first = ''] = packs
  const absent = { pack: null, folder: first, exists: false, missing: [`the folder ${first}`] }
  return found.find(({ pack }) => pack !== null) ?? found[0] ?? absent
}

const VAD = 'silero_vad.onnx'

const vadIn = (pack: string): string | null =>
  firstFile([join(pack, 'models', 'vad', VAD), join(pack, VAD)])

/** The voice detector of a voice pack, which may hold nothing else; null without one. */
export function findVad(folders: readonly string[]): string | null {
  const found = folders.map((folder) => vadIn(resolve(folder, 'packs', 'voice')))
  return found.find((file) => file !== null) ?? null
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
    return {
      pack: { folder, library, model, vad: vadIn(folder) },
      folder,
      exists: true,
      missing: [],
    }
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

/** The model that the operator named, else SenseVoice, else the first by name. */
function chooseModel(folder: string, modelName: string | undefined): RecognitionModel | null {
  const shelf = join(folder, 'models', 'asr')
  const places = [...below(shelf), shelf, ...below(folder), folder]
  const models = places.flatMap((place) => modelIn(place) ?? [])
  if (modelName !== undefined) return models.find(({ name }) => name === modelName) ?? null
  return models.find(({ kind }) => kind === 'sense-voice') ?? models[0] ?? null
}

const below = (folder: string) => namesIn(folder).map((name) => join(folder, name))

function firstFile(paths: readonly string[]): string | null {
  return paths.find(isFile) ?? null
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** Only SenseVoice has tokens that name the spoken language. */
const SENSE_VOICE_TOKEN = '<|zh|>'
/** The language is fixed to Chinese with punctuation. */
const LANGUAGE = 'zh'

/**
 * Recognises the model in a folder by the file names of sherpa-onnx's releases and prefers a
 * quantised version. Null when the folder contains no complete model.
 */
export function modelIn(folder: string): RecognitionModel | null {
  const names = namesIn(folder)
  const find = (part: string) => {
    const pattern = new RegExp(`(^|[-_])${part}([-_.].*)?\\.onnx$`)
    const found = names.filter((name) => pattern.test(name)).sort()
    const name = found.find((one) => one.includes('int8')) ?? found[0]
    return name === undefined ? null : join(folder, name)
  }
  const tokens = names.find((name) => /(^|-)tokens\.txt$/.test(name))
  if (tokens === undefined) return null
  const base = { name: basename(folder), tokens: join(folder, tokens) }
  const [encoder, decoder, joiner] = [find('encoder'), find('decoder'), find('joiner')]
  if (encoder && decoder && joiner) {
    return { ...base, kind: 'transducer', config: { transducer: { encoder, decoder, joiner } } }
  }
  if (encoder && decoder && tokens !== 'tokens.txt') {
    const whisper = { encoder, decoder, language: LANGUAGE, task: 'transcribe', tailPaddings: -1 }
    return { ...base, kind: 'whisper', config: { whisper } }
  }
  const model = find('model')
  if (model === null) return null
  if (readFileSync(base.tokens, 'utf8').includes(SENSE_VOICE_TOKEN)) {
    const senseVoice = { model, language: LANGUAGE, useInverseTextNormalization: 1 }
    return { ...base, kind: 'sense-voice', config: { senseVoice } }
  }
  if (/zipformer/i.test(base.name)) {
    return { ...base, kind: 'zipformer-ctc', config: { zipformerCtc: { model } } }
  }
  return { ...base, kind: 'paraformer', config: { paraformer: { model } } }
}

/** The sorted names in a folder; empty when the folder does not exist. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}
