import { FLOAT, INT32, INT64, onnxModel } from './onnx.ts'

/**
 * Recognition models with the shape and metadata of real ones, which recognise tones: 400 Hz is 低,
 * 1,000 Hz is 中, 3,000 Hz is 高. They exercise all of sherpa-onnx: features, decoding and text.
 */
const TOKENS = ['<blk>', '<|zh|>', '<|NEUTRAL|>', '<|Speech|>', '<|withitn|>']
const TONES = { 低: 14, 中: 26, 高: 52 }
/** Tokens that the model returns for another language, or without punctuation. */
const WRONG = { language: '错', punctuation: '生' }
const ALL = [...TOKENS, ...Object.keys(TONES), ...Object.values(WRONG)]
const [BINS, FRAMES] = [80, 7]
/** The ids of real SenseVoice models. */
const [CHINESE, WITH_PUNCTUATION] = [3, 14]

export const tokensText = ALL.map((token, id) => `${token} ${id}\n`).join('')

export function senseVoice(): Uint8Array {
  const width = ALL.length
  const features = BINS * FRAMES
  const bands = new Float32Array(features * width)
  for (const [token, bin] of Object.entries(TONES)) {
    for (let frame = 0; frame < FRAMES; frame++) {
      for (let near = -2; near <= 2; near++) {
        bands[(frame * BINS + bin + near) * width + ALL.indexOf(token)] = 1 / (FRAMES * 5)
      }
    }
  }
  const bias = Float32Array.from(ALL, (token) =>
    token in TONES ? 0 : token === '<blk>' ? 12 : -99,
  )
  const prompt = new Float32Array(4 * width)
  for (let at = 0; at < 4; at++) prompt[at * width + at + 1] = 1
  return onnxModel({
    nodes: [
      { op: 'MatMul', from: ['x', 'bands'], to: 'heard' },
      { op: 'Add', from: ['heard', 'bias'], to: 'biased' },
      {
        op: 'Gather',
        from: ['languages', 'language'],
        to: 'wrong_language',
        attributes: { axis: 0 },
      },
      { op: 'Add', from: ['biased', 'wrong_language'], to: 'in_chinese' },
      { op: 'Gather', from: ['norms', 'text_norm'], to: 'wrong_norm', attributes: { axis: 0 } },
      { op: 'Add', from: ['in_chinese', 'wrong_norm'], to: 'punctuated' },
      { op: 'Concat', from: ['prompt', 'punctuated'], to: 'logits', attributes: { axis: 1 } },
    ],
    inputs: [
      { name: 'x', type: FLOAT, shape: ['N', 'T', features] },
      { name: 'x_length', type: INT32, shape: ['N'] },
      { name: 'language', type: INT32, shape: ['N'] },
      { name: 'text_norm', type: INT32, shape: ['N'] },
    ],
    outputs: [{ name: 'logits', type: FLOAT, shape: ['N', 'T_out', width] }],
    constants: [
      { name: 'bands', shape: [features, width], values: bands },
      { name: 'bias', shape: [width], values: bias },
      { name: 'prompt', shape: [1, 4, width], values: prompt },
      { name: 'languages', shape: [16, width], values: unless(CHINESE, WRONG.language) },
      { name: 'norms', shape: [16, width], values: unless(WITH_PUNCTUATION, WRONG.punctuation) },
    ],
    metadata: {
      ...{ model_type: 'sense_voice_ctc', vocab_size: width, normalize_samples: 0 },
      ...{
        lfr_window_size: FRAMES,
        lfr_window_shift: 6,
        with_itn: WITH_PUNCTUATION,
        without_itn: 15,
      },
      ...{ lang_auto: 0, lang_zh: CHINESE, lang_en: 4, lang_yue: 7, lang_ja: 11, lang_ko: 12 },
      neg_mean: new Array(features).fill(0).join(','),
      inv_stddev: new Array(features).fill(1).join(','),
      comment: 'hears tones',
    },
  })
}

/** One row for each id: all lead to `token` except the id `right`. */
function unless(right: number, token: string): Float32Array {
  const rows = new Float32Array(16 * ALL.length)
  for (let id = 0; id < 16; id++) {
    if (id !== right) rows[id * ALL.length + ALL.indexOf(token)] = 1_000
  }
  return rows
}

/** A voice detector with the interface of Silero VAD 4: a mean level above 0.05 is speech. */
export function sileroVad(): Uint8Array {
  const state = { type: FLOAT, shape: [2, 1, 64] }
  return onnxModel({
    nodes: [
      { op: 'Abs', from: ['input'], to: 'size' },
      { op: 'ReduceMean', from: ['size'], to: 'mean', attributes: { axes: [1], keepdims: 1 } },
      { op: 'Mul', from: ['mean', 'gain'], to: 'output' },
      { op: 'Identity', from: ['h'], to: 'hn' },
      { op: 'Identity', from: ['c'], to: 'cn' },
    ],
    inputs: [
      { name: 'input', type: FLOAT, shape: [1, 'T'] },
      { name: 'sr', type: INT64, shape: [1] },
      { name: 'h', ...state },
      { name: 'c', ...state },
    ],
    outputs: [
      { name: 'output', type: FLOAT, shape: [1, 1] },
      { name: 'hn', ...state },
      { name: 'cn', ...state },
    ],
    constants: [{ name: 'gain', shape: [1], values: Float32Array.of(10) }],
  })
}

/**
 * A voice detector with the interface of Silero VAD 5 and 6. Each window of a stream adds 0.1 to
 * what it hears: one in a row is 0, the next 0.1 and so on. Sound adds its mean level.
 */
export function countingVad(): Uint8Array {
  const state = { type: FLOAT, shape: [2, 'N', 128] }
  return onnxModel({
    nodes: [
      { op: 'Abs', from: ['input'], to: 'size' },
      { op: 'ReduceMean', from: ['size'], to: 'level', attributes: { axes: [1], keepdims: 1 } },
      { op: 'ReduceMean', from: ['state'], to: 'count', attributes: { axes: [0, 2], keepdims: 0 } },
      { op: 'Add', from: ['level', 'count'], to: 'output' },
      { op: 'Add', from: ['state', 'one'], to: 'stateN' },
    ],
    inputs: [
      // The sound and the end of the window before it.
      { name: 'input', type: FLOAT, shape: ['N', 576] },
      { name: 'state', ...state },
      { name: 'sr', type: INT64, shape: [] },
    ],
    outputs: [
      { name: 'output', type: FLOAT, shape: ['N', 1] },
      { name: 'stateN', ...state },
    ],
    constants: [{ name: 'one', shape: [1], values: Float32Array.of(0.1) }],
  })
}
