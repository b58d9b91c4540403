import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './command.ts'
import { senseVoice, sileroVad, tokensText } from './tone-models.ts'

const PLATFORM = `${process.platform}-${process.arch}`
const LIBRARIES = ['sherpa-onnx.node', 'libsherpa-onnx-c-api.so', 'libonnxruntime.so']
const PACKAGE = join(ROOT, `test/fixtures/sherpa/node_modules/sherpa-onnx-${PLATFORM}`)

/** `npm test` installs the library; tests of real packs are skipped without it. */
export const hasSherpa = existsSync(join(PACKAGE, 'sherpa-onnx.node'))

export function sayWhenNoSherpa(): void {
  if (!hasSherpa) process.stderr.write('skipped: sherpa-onnx is not installed; npm test does it\n')
}

export interface PackOptions {
  readonly library?: boolean
  readonly model?: Uint8Array | null
  readonly vad?: boolean
}

/** Writes a voice pack that recognises tones to `folder/packs/voice`; returns its model path. */
export function makeVoicePack(folder: string, options: PackOptions = {}): string {
  const { library = true, model = senseVoice(), vad = false } = options
  const pack = join(folder, 'packs', 'voice')
  const place = (...parts: string[]) => {
    const path = join(pack, ...parts)
    mkdirSync(join(path, '..'), { recursive: true })
    return path
  }
  const path = place('models', 'asr', 'tones', 'model.int8.onnx')
  writeFileSync(place('models', 'asr', 'tones', 'tokens.txt'), tokensText)
  if (model) writeFileSync(path, model)
  if (vad) writeFileSync(place('models', 'vad', 'silero_vad.onnx'), sileroVad())
  if (library) {
    for (const name of LIBRARIES) copyFileSync(join(PACKAGE, name), place('native', PLATFORM, name))
  }
  return path
}
