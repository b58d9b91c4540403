import type { AudioCodecs } from '../channels/ports/audio.ts'
import type { Parser } from '../channels/ports/parser.ts'
import { createDecode } from './decode.ts'
import { createEncode, type EncoderOptions } from './encode.ts'
import { createReadSpeech } from './read-speech.ts'
import { isSilent } from './silence.ts'
import { sniff } from './sniff.ts'

export interface AudioOptions extends EncoderOptions {
  readonly parser: Parser
}

/** The codecs of the product: WebAssembly libraries and own arithmetic, no installed program. */
export function createAudioCodecs({ parser, ...encoder }: AudioOptions): AudioCodecs {
  const decode = createDecode(parser)
  return {
    sniff,
    speechEncoder: createEncode(encoder),
    decode,
    readSpeech: createReadSpeech(decode),
    isSilent: (bytes) => isSilent(bytes, encoder.clock.steady),
  }
}
