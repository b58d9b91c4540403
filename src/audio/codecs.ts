import { FLACDecoder, FLACDecoderWebWorker } from '@wasm-audio-decoders/flac'
import { OggVorbisDecoder, OggVorbisDecoderWebWorker } from '@wasm-audio-decoders/ogg-vorbis'
import { MPEGDecoder, MPEGDecoderWebWorker } from 'mpg123-decoder'

/**
 * Bun's bundler drops the `WebWorker` classes of these packages when nothing names them, but keeps
 * statements of the packages that use them, and the executable then dies at start with a
 * ReferenceError. Naming both in one object keeps both.
 */
export const CODECS = {
  FLACDecoder,
  FLACDecoderWebWorker,
  MPEGDecoder,
  MPEGDecoderWebWorker,
  OggVorbisDecoder,
  OggVorbisDecoderWebWorker,
}
