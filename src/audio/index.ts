import { appError } from '../core/errors.ts'
import { AUDIO_SECONDS_MAX } from '../core/limits/machine.ts'
import { ChannelFailure } from '../upstream/ports/failure.ts'
import { ParseFailure, type Parser } from '../upstream/ports/parser.ts'
import type { AudioCodecs } from '../upstream/ports/speech.ts'
import { createEncode, type EncoderOptions } from './encode.ts'
import { createReadSpeech } from './read-speech.ts'
import { isRecording } from './recording.ts'
import { isSilent } from './silence.ts'
import { sniff } from './sniff.ts'
import { wavFile } from './wav.ts'

export interface AudioOptions extends EncoderOptions {
  readonly parser: Parser
}

/** The codecs of the product: WebAssembly libraries and own arithmetic, no installed program. */
export function createAudioCodecs({ parser, ...encoder }: AudioOptions): AudioCodecs {
  const decode = createDecode(parser)
  return {
    sniff,
    isRecording,
    speechEncoder: createEncode(encoder),
    decode,
    duration: createDuration(parser),
    readSpeech: createReadSpeech(decode),
    wav: wavFile,
    packetDecoder: async () => (await import('./opus-packets.ts')).createPacketDecoder(),
    isSilent: (bytes) => isSilent(bytes, encoder.clock.steady),
  }
}

/** Implements `AudioCodecs.duration` with a parse worker, which runs `durationOf`. */
function createDuration(parser: Parser): AudioCodecs['duration'] {
  return async ({ bytes, tenantId }, signal) => {
    try {
      const task = { name: 'duration', bytes, options: {}, tenantId } as const
      for await (const seconds of parser.parse(task, signal)) return seconds
    } catch (error) {
      if (!(error instanceof ParseFailure)) throw error
    }
    return 0
  }
}

/** Implements `AudioCodecs.decode` with a parse worker, which runs `decodePcm`. */
function createDecode(parser: Parser): AudioCodecs['decode'] {
  return async function* decode({ bytes, tenantId }, rate, signal) {
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
