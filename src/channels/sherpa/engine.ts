import { availableParallelism } from 'node:os'
import { z } from 'zod'
import { RECOGNISER_RATE, type TimedText, type Transcript } from '../../upstream/ports/speech.ts'
import type { VoicePack } from './find.ts'
import { joinTexts, loudSpans, type Span, toPieces } from './segments.ts'

/** The text of a recording, and of its parts with their times in seconds. */
export type Recognised = Required<Pick<Transcript, 'text' | 'segments'>>

export const NOTHING: Recognised = { text: '', segments: [] }

/** Turns recordings into text. Runs in the recogniser process. */
export interface Engine {
  /** Takes 16 kHz mono. The text is empty for silence, and once `cancelled` returns true. */
  transcribe(samples: Int16Array, cancelled: () => boolean): Promise<Recognised>
}

declare const handle: unique symbol
type Handle = { readonly [handle]: true }

/** The used part of the sherpa-onnx addon (sherpa-onnx-node 1.13). */
export interface SherpaAddon {
  createOfflineRecognizer(config: object): Handle
  createOfflineStream(recognizer: Handle): Handle
  acceptWaveformOffline(stream: Handle, wave: { samples: Float32Array; sampleRate: number }): void
  decodeOfflineStreamAsync(recognizer: Handle, stream: Handle): Promise<string>
  createVoiceActivityDetector(config: object, bufferSeconds: number): Handle
  voiceActivityDetectorAcceptWaveform(vad: Handle, samples: Float32Array): void
  voiceActivityDetectorFlush(vad: Handle): void
  voiceActivityDetectorReset(vad: Handle): void
  voiceActivityDetectorIsEmpty(vad: Handle): boolean
  /** `external`: whether the samples lie outside the JavaScript heap. */
  voiceActivityDetectorFront(
    vad: Handle,
    external: boolean,
  ): { start: number; samples: Float32Array }
  voiceActivityDetectorPop(vad: Handle): void
}

const result = z.object({ text: z.string() })

/** More threads gain little, and the server needs the other cores. */
const THREADS = Math.max(1, Math.min(4, availableParallelism() >> 1))
/** Shorter pieces contain no complete frame for the model. */
const PIECE_SAMPLES_MIN = RECOGNISER_RATE / 2

/** Loads the model. A damaged file may abort the process instead of throwing. */
export function openEngine(addon: SherpaAddon, { model, vad }: VoicePack): Engine {
  const common = { numThreads: THREADS, provider: 'cpu', debug: 0 }
  const recognizer = addon.createOfflineRecognizer({
    featConfig: { sampleRate: RECOGNISER_RATE, featureDim: 80 },
    modelConfig: { ...model.config, tokens: model.tokens, ...common },
  })
  const spansOf = vad === null ? loudSpans : detector(addon, vad)

  /** Keeps streams from garbage collection, because the addon does not while it decodes. */
  const decoding = new Set<Handle>()

  async function textOf(samples: Int16Array): Promise<string> {
    const stream = addon.createOfflineStream(recognizer)
    decoding.add(stream)
    const wave = toFloats(samples, PIECE_SAMPLES_MIN)
    addon.acceptWaveformOffline(stream, { samples: wave, sampleRate: RECOGNISER_RATE })
    try {
      const json = await addon.decodeOfflineStreamAsync(recognizer, stream)
      return result.parse(JSON.parse(json)).text
    } finally {
      decoding.delete(stream)
    }
  }

  return {
    async transcribe(samples, cancelled) {
      const segments: TimedText[] = []
      for (const { start, end } of toPieces(spansOf(samples), samples)) {
        if (cancelled()) return NOTHING
        const text = (await textOf(samples.subarray(start, end))).trim()
        if (text === '') continue
        segments.push({ start: start / RECOGNISER_RATE, end: end / RECOGNISER_RATE, text })
      }
      return { text: joinTexts(segments.map(({ text }) => text)), segments }
    },
  }
}

const VAD_WINDOW = 512
const VAD_BUFFER_SECONDS = 60

/** Finds speech with Silero's voice activity detector. */
function detector(addon: SherpaAddon, model: string): (samples: Int16Array) => Span[] {
  const sileroVad = {
    model,
    threshold: 0.4,
    minSilenceDuration: 0.5,
    minSpeechDuration: 0.2,
    maxSpeechDuration: 25,
    windowSize: VAD_WINDOW,
  }
  const config = {
    sileroVad,
    sampleRate: RECOGNISER_RATE,
    numThreads: 1,
    provider: 'cpu',
    debug: 0,
  }
  const vad = addon.createVoiceActivityDetector(config, VAD_BUFFER_SECONDS)

  return (samples) => {
    const spans: Span[] = []
    const collect = () => {
      while (!addon.voiceActivityDetectorIsEmpty(vad)) {
        const { start, samples } = addon.voiceActivityDetectorFront(vad, false)
        spans.push({ start, end: start + samples.length })
        addon.voiceActivityDetectorPop(vad)
      }
    }
    addon.voiceActivityDetectorReset(vad)
    for (let at = 0; at < samples.length; at += VAD_WINDOW) {
      const window = toFloats(samples.subarray(at, at + VAD_WINDOW), VAD_WINDOW)
      addon.voiceActivityDetectorAcceptWaveform(vad, window)
      collect()
    }
    addon.voiceActivityDetectorFlush(vad)
    collect()
    return spans
  }
}

/** Maps full scale to 1 and pads with silence to `least` samples. */
function toFloats(samples: Int16Array, least: number): Float32Array {
  const floats = new Float32Array(Math.max(samples.length, least))
  for (let i = 0; i < samples.length; i++) floats[i] = (samples[i] as number) / 32_768
  return floats
}
