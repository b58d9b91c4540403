import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** A recognition model that sherpa-onnx can run, by the files it consists of. */
export interface RecognitionModel {
  /** Name of its folder. */
  readonly name: string
  readonly kind: 'sense-voice' | 'paraformer' | 'zipformer-ctc' | 'whisper' | 'transducer'
  readonly tokens: string
  /** The part of sherpa-onnx's `modelConfig` that belongs to this kind. */
  readonly config: Readonly<Record<string, Readonly<Record<string, string | number>>>>
}

/** Only the tokens of SenseVoice name the language of what was said. */
const SENSE_VOICE_TOKEN = '<|zh|>'
/** The language is fixed to Chinese with punctuation (specification, `POST /v1/asr`). */
const LANGUAGE = 'zh'

/**
 * Tells the model in a folder by the names under which sherpa-onnx's own releases have the files;
 * of a whole and a quantised version the quantised one. Null when there is none.
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

/** Names in a folder, sorted; none when there is no such folder. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}
