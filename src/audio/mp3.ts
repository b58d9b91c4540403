import { createEncoder, type WasmMediaEncoder } from 'wasm-media-encoders'
import wasmPath from 'wasm-media-encoders/wasm/mp3' with { type: 'file' }
import { SPEECH_RATE } from '../upstream/ports/speech.ts'
import { createSampleReader, toFloats } from './pcm.ts'

const BITRATE_KBPS = 128
/** Idle encoders that are kept; each holds a few megabytes of WebAssembly memory. */
const IDLE_MAX = 4
/** Samples of one call; larger calls would grow the encoder's buffers. */
const SLICE_SAMPLES = 32_000

type Lame = WasmMediaEncoder<'audio/mpeg'>

/** 32 kHz mono signed 16-bit little-endian in, mp3 at a constant 128 kbps out. */
export interface Mp3Encoder {
  encode(pcm: Uint8Array): Uint8Array
  /** The last frames. */
  finish(): Uint8Array
  /** Returns the encoder to the pool. Must be called once, finished or not. */
  release(): void
}

/** Compiles LAME at the first use and hands out encoders, reusing those that were released. */
export function createMp3Factory(): () => Promise<Mp3Encoder> {
  const idle: Lame[] = []
  let compiled: Promise<WebAssembly.Module> | null = null
  return async () => {
    compiled ??= Bun.file(wasmPath)
      .bytes()
      .then((bytes) => WebAssembly.compile(bytes))
    const lame = idle.pop() ?? (await createEncoder('audio/mpeg', await compiled))
    lame.configure({ channels: 1, sampleRate: SPEECH_RATE, bitrate: BITRATE_KBPS })
    return wrap(lame, () => {
      if (idle.length < IDLE_MAX) idle.push(lame)
    })
  }
}

function wrap(lame: Lame, giveBack: () => void): Mp3Encoder {
  const read = createSampleReader()
  let released = false
  return {
    encode(pcm) {
      const samples = toFloats(read(pcm))
      const frames: Uint8Array[] = []
      for (let at = 0; at < samples.length; at += SLICE_SAMPLES) {
        // The encoder returns a view of its own memory, which the next call overwrites.
        frames.push(lame.encode([samples.subarray(at, at + SLICE_SAMPLES)]).slice())
      }
      return frames.length === 1 && frames[0] !== undefined ? frames[0] : Buffer.concat(frames)
    },
    finish: () => lame.finalize().slice(),
    release() {
      if (!released) giveBack()
      released = true
    },
  }
}
