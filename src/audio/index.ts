import type { AudioCodecs } from '../channels/audio'
import { createDecode, type DecoderOptions } from './decode'
import { createMp3Factory } from './mp3'
import { createReadSpeech } from './read-speech'
import { createResampler } from './resample'
import { isSilent } from './silence'
import { sniff } from './sniff'

/** The codecs of the product: WebAssembly libraries and own arithmetic, no installed program. */
export function createAudioCodecs(options: DecoderOptions): AudioCodecs {
  const decode = createDecode(options)
  return {
    sniff,
    resampler: createResampler,
    mp3Encoder: createMp3Factory(),
    decode,
    readSpeech: createReadSpeech(decode),
    isSilent,
  }
}
