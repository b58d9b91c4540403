import { sniff } from './sniff.ts'
import { createWavReader } from './wav.ts'

/**
 * Whether a recogniser can be asked about these bytes: they are of a kind that is taken, or bare
 * samples. Recordings of other kinds, other files and a wav file without samples are none.
 */
export function isRecording(bytes: Uint8Array): boolean {
  const kind = sniff(bytes)
  if (kind !== null) return kind.name !== 'wav' || hasSamples(bytes)
  const start = Buffer.from(bytes.subarray(0, TEXT_BYTES)).toString('latin1')
  return !OTHERS.test(start) && !TEXT.test(start)
}

/**
 * How other files begin: AIFF, CAF, AC-3, WMA (ASF), Wave64, AU, RealMedia, Monkey's Audio,
 * WavPack, Musepack, MIDI, another RIFF, and then PDF, zip, gzip, PNG, GIF, JPEG.
 */
const OTHERS = new RegExp(
  `^(?:${[
    ...[
      'FORM....AIF[FC]',
      'caff',
      '\\x0bw',
      '0&\\xb2u\\x8ef\\xcf\\x11',
      'riff\\x2e\\x91\\xcf\\x11',
    ],
    ...['\\.snd', '\\.(?:RMF|ra\\xfd)', 'MAC ', 'wvpk', 'MP\\+|MPCK', 'MThd', 'RIFF|RIFX'],
    ...['%PDF', 'PK\\x03\\x04', '\\x1f\\x8b', '\\x89PNG', 'GIF8', '\\xff\\xd8\\xff'],
  ].join('|')})`,
  's',
)

const TEXT_BYTES = 512
/** Samples and compressed sound have bytes that no text has, whatever its encoding. */
const TEXT = /^(?:\xfe\xff|[\t-\r -~\x80-\xff]+$)/

/** The header of a wav file is looked for in its first part. */
const HEAD_BYTES = 64 * 1024

function hasSamples(wav: Uint8Array): boolean {
  const reader = createWavReader()
  try {
    const samples = reader.push(wav.subarray(0, HEAD_BYTES))
    return samples.length > 0 || (reader.format() === null && wav.length > HEAD_BYTES)
  } catch {
    // Samples that this reader does not know, such as those of telephones.
    return true
  }
}
