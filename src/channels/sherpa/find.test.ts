import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { findVoicePack, modelIn } from './find.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'moonbase-pack-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

/** Makes files below the root; `tokens.txt` with what is given, others empty. */
function make(files: readonly string[], tokens = 'a 0\n') {
  for (const file of files) {
    const path = join(root, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, file.endsWith('tokens.txt') ? tokens : '')
  }
}

const SENSE_VOICE = '<unk> 0\n<|zh|> 24884\n'

describe('a model, by its files', () => {
  const kindOf = (name: string) => modelIn(join(root, name))
  const at = (name: string, file: string) => join(root, name, file)

  test('a SenseVoice model is found, quantised first, in Chinese with punctuation', () => {
    make(['m/model.onnx', 'm/model.int8.onnx', 'm/tokens.txt', 'm/README.md'], SENSE_VOICE)
    expect(kindOf('m')).toEqual({
      name: 'm',
      kind: 'sense-voice',
      tokens: at('m', 'tokens.txt'),
      config: {
        senseVoice: {
          model: at('m', 'model.int8.onnx'),
          language: 'zh',
          useInverseTextNormalization: 1,
        },
      },
    })
  })

  test('Paraformer and Zipformer CTC models are found', () => {
    make(['p/model.onnx', 'p/tokens.txt', 'zipformer-ctc/model.onnx', 'zipformer-ctc/tokens.txt'])
    expect(kindOf('p')).toMatchObject({
      kind: 'paraformer',
      config: { paraformer: { model: at('p', 'model.onnx') } },
    })
    expect(kindOf('zipformer-ctc')).toMatchObject({
      kind: 'zipformer-ctc',
      config: { zipformerCtc: { model: at('zipformer-ctc', 'model.onnx') } },
    })
  })

  test('a Whisper model is found', () => {
    make(['w/small-encoder.int8.onnx', 'w/small-decoder.onnx', 'w/small-tokens.txt'])
    expect(kindOf('w')).toMatchObject({
      kind: 'whisper',
      tokens: at('w', 'small-tokens.txt'),
      config: {
        whisper: {
          encoder: at('w', 'small-encoder.int8.onnx'),
          decoder: at('w', 'small-decoder.onnx'),
          language: 'zh',
          task: 'transcribe',
        },
      },
    })
  })

  test('a transducer model is found', () => {
    const parts = ['encoder', 'decoder', 'joiner'].map((part) => `t/${part}-epoch-99-avg-1.onnx`)
    make([...parts, 't/encoder-epoch-99-avg-1.int8.onnx', 't/tokens.txt'])
    expect(kindOf('t')).toMatchObject({
      kind: 'transducer',
      config: {
        transducer: {
          encoder: at('t', 'encoder-epoch-99-avg-1.int8.onnx'),
          joiner: at('t', 'joiner-epoch-99-avg-1.onnx'),
        },
      },
    })
  })

  test('an incomplete model is not found', () => {
    make(['a/model.onnx', 'b/tokens.txt', 'c/encoder.onnx', 'c/decoder.onnx', 'c/tokens.txt'])
    for (const name of ['a', 'b', 'c', 'nowhere']) expect(kindOf(name)).toBeNull()
  })
})

describe('the pack', () => {
  const find = (modelName?: string, folders = ['data', 'program']) =>
    findVoicePack({
      folders: folders.map((folder) => join(root, folder)),
      platform: 'linux-x64',
      modelName,
    })
  const PACK = 'data/packs/voice'
  const LIBRARY = `${PACK}/native/linux-x64/sherpa-onnx.node`
  const model = (name: string, pack = PACK) => [
    `${pack}/models/asr/${name}/model.onnx`,
    `${pack}/models/asr/${name}/tokens.txt`,
  ]

  test('a missing voice pack is not found', () => {
    const folder = join(root, PACK)
    expect(find()).toEqual({ pack: null, folder, exists: false, missing: [`the folder ${folder}`] })
  })

  test('a voice pack is found in its folders, with or without a voice detector', () => {
    make([LIBRARY, ...model('one')])
    const { pack, missing } = find()
    expect(missing).toEqual([])
    expect(pack).toMatchObject({ library: join(root, LIBRARY), model: { name: 'one' }, vad: null })
    make([`${PACK}/models/vad/silero_vad.onnx`])
    expect(find().pack?.vad).toBe(join(root, PACK, 'models/vad/silero_vad.onnx'))
  })

  test('a voice pack may be one flat folder, as the downloads unpack', () => {
    make([`${PACK}/sherpa-onnx.node`, `${PACK}/model.int8.onnx`, `${PACK}/tokens.txt`])
    expect(find().pack?.library).toBe(join(root, PACK, 'sherpa-onnx.node'))
    make([`${PACK}/package/sherpa-onnx.node`])
    expect(find().pack?.library).toBe(join(root, PACK, 'package/sherpa-onnx.node'))
    make([`${PACK}/sherpa-onnx-linux-x64/sherpa-onnx.node`, `${PACK}/silero_vad.onnx`])
    expect(find().pack?.library).toBe(join(root, PACK, 'sherpa-onnx-linux-x64/sherpa-onnx.node'))
    expect(find().pack?.vad).toBe(join(root, PACK, 'silero_vad.onnx'))
  })

  test('the chosen model of several is used, else SenseVoice, else the first', () => {
    make([LIBRARY, ...model('b'), ...model('c')])
    expect(find().pack?.model.name).toBe('b')
    make(model('z'), SENSE_VOICE)
    expect(find().pack?.model.name).toBe('z')
    expect(find('c').pack?.model.name).toBe('c')
    expect(find('d')).toMatchObject({ pack: null, exists: true })
    expect(find('d').missing.join()).toContain(join(PACK, 'models/asr/d'))
  })

  test('an incomplete voice pack says what it lacks', () => {
    make([`${PACK}/native/linux-arm64/sherpa-onnx.node`, `${PACK}/models/asr/m/model.onnx`])
    const { missing, exists } = find()
    expect(exists).toBe(true)
    expect(missing[0]).toContain(`sherpa-onnx.node of linux-x64 in ${join(root, PACK)}`)
    expect(missing[1]).toContain('tokens.txt')
    mkdirSync(join(root, LIBRARY), { recursive: true })
    expect(find().missing).toHaveLength(2)
  })

  test('a pack beside the program is used when the one in the data is incomplete', () => {
    const other = 'program/packs/voice'
    make([LIBRARY, `${other}/sherpa-onnx.node`, ...model('m', other)])
    expect(find().pack?.folder).toBe(join(root, other))
  })
})
