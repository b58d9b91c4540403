import { appError } from '../../core/errors.ts'
import { AUDIO_BYTES_MAX } from '../../core/limits/contract.ts'

const tooLarge = () => appError('audio_too_large', { max: AUDIO_BYTES_MAX / 1024 / 1024 })
/** The white space that `Uint8Array.fromBase64` skips: tab, line and form feed, return, blank. */
const SPACES = new Set([0x09, 0x0a, 0x0c, 0x0d, 0x20])
const PADDING = 0x3d
const PADDING_MAX = 2

/** 400 for an empty recording, 413 over 25 MB. */
export function checkAudio(bytes: Uint8Array): Uint8Array {
  if (bytes.length === 0) throw appError('audio_empty')
  if (bytes.length > AUDIO_BYTES_MAX) throw tooLarge()
  return bytes
}

/**
 * Decodes `audio_b64`: the standard alphabet with padding; white space is skipped, all else is 400.
 * A recording over the limit is refused before it is decoded.
 */
export function decodeAudio(text: string): Uint8Array {
  if (decodedBytes(text) > AUDIO_BYTES_MAX) throw tooLarge()
  let bytes: Uint8Array
  try {
    bytes = Uint8Array.fromBase64(text, { alphabet: 'base64', lastChunkHandling: 'strict' })
  } catch {
    throw appError('audio_not_base64')
  }
  return checkAudio(bytes)
}

function decodedBytes(text: string): number {
  const estimate = (text.length / 4) * 3
  if (estimate <= AUDIO_BYTES_MAX) return estimate
  let signs = 0
  let padding = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit <= 0x20 && SPACES.has(unit)) continue
    signs++
    padding = unit === PADDING ? padding + 1 : 0
  }
  return (signs / 4) * 3 - Math.min(padding, PADDING_MAX)
}

/** The base64 of `parts` as one, piece by piece. */
export function* base64Pieces(parts: Iterable<Uint8Array>): Generator<string> {
  let rest: Uint8Array = new Uint8Array(0)
  for (const part of parts) {
    const bytes = Buffer.concat([rest, part])
    // Three bytes make four characters; a remainder would be padded.
    const whole = bytes.length - (bytes.length % 3)
    rest = bytes.subarray(whole)
    yield bytes.toString('base64', 0, whole)
  }
  yield Buffer.from(rest).toString('base64')
}
