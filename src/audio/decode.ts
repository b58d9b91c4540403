import type { AudioClip } from '../channels/ports/asr.ts'
import type { AudioCodecs } from '../channels/ports/audio.ts'
import { ChannelFailure } from '../channels/ports/failure.ts'
import { ParseFailure, type Parser } from '../channels/ports/parser.ts'
import { appError } from '../core/errors.ts'
import { AUDIO_SECONDS_MAX } from '../core/limits/machine.ts'

/** Implements `AudioCodecs.decode` with a parse worker, which runs `decodePcm`. */
export function createDecode(parser: Parser): AudioCodecs['decode'] {
  return async function* decode({ bytes, tenantId }: AudioClip, rate, signal) {
    const task = { name: 'audio', bytes, options: { rate }, tenantId } as const
    try {
      yield* parser.parse(task, signal)
    } catch (error) {
      if (!(error instanceof ParseFailure)) throw error
      if (error.reason === 'too_long') {
        throw appError('audio_too_long', { max: AUDIO_SECONDS_MAX / 60 })
      }
      throw new ChannelFailure('provider_error', 'unreadable audio', { cause: error })
    }
  }
}
