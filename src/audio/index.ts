import type { AudioCodecs } from '../channels/ports/audio.ts'
import { createDecode, type DecoderOptions } from './decode.ts'
import { createMp3Factory } from './mp3.ts'
import { createReadSpeech } from './read-speech.ts'
import { createResamplerFactory } from './resample.ts'
import { isSilent } from './silence.ts'
import { sniff } from './sniff.ts'

/** The codecs of the product: WebAssembly libraries and own arithmetic, no installed program. */
export function createAudioCodecs(options: DecoderOptions): AudioCodecs {
  const decode = createDecode(options)
  return {
    sniff,
    resampler: createResamplerFactory(),
    mp3Encoder: createMp3Factory(),
    decode,
    readSpeech: createReadSpeech(decode),
    isSilent,
  }
}
