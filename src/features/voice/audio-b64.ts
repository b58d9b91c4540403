import { badRequest, tooLarge } from '../../core/errors.ts'
import { AUDIO_BYTES_MAX } from '../../core/limits.ts'

const TOO_LARGE = `音频过大（最多 ${AUDIO_BYTES_MAX / 1024 / 1024} MB）`
/** White space that `Uint8Array.fromBase64` skips too. */
const SPACE = /[\t\n\f\r ]/g

/** 400 for an empty recording, 413 over 25 MB (specification, Errors). */
export function checkAudio(bytes: Uint8Array): Uint8Array {
  if (bytes.length === 0) throw badRequest('音频不能为空')
  if (bytes.length > AUDIO_BYTES_MAX) throw tooLarge(TOO_LARGE)
  return bytes
}

/**
 * Decodes `audio_b64`: standard alphabet with its padding, white space allowed, anything else 400.
 * A recording over the limit is refused before it is decoded.
 */
export function decodeAudio(text: string): Uint8Array {
  if (decodedBytes(text) > AUDIO_BYTES_MAX) throw tooLarge(TOO_LARGE)
  let bytes: Uint8Array
  try {
    bytes = Uint8Array.fromBase64(text, { alphabet: 'base64', lastChunkHandling: 'strict' })
  } catch {
    throw badRequest('audio_b64 不是有效的 Base64')
  }
  return checkAudio(bytes)
}

function decodedBytes(text: string): number {
  const estimate = (text.length / 4) * 3
  if (estimate <= AUDIO_BYTES_MAX) return estimate
  const spaces = text.match(SPACE)?.length ?? 0
  const padding = /=[\s=]{0,8}$/.exec(text)?.[0].replaceAll(/\s/g, '').length ?? 0
  return ((text.length - spaces) / 4) * 3 - padding
}
