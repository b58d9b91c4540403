import type { SpeechFormat } from '../channels/ports/audio.ts'
import { createSpeechEncoders, type SyncSpeechEncoder } from './speech-encoder.ts'

/** Messages to the encoding thread; `id` names a speech. */
export type EncodeRequest =
  | { readonly type: 'open'; readonly id: number; readonly format: SpeechFormat }
  | {
      readonly type: 'pcm'
      readonly id: number
      readonly pcm: Uint8Array
      readonly rate: number
    }
  | { readonly type: 'finish'; readonly id: number }
  | { readonly type: 'close'; readonly id: number }

/** The answer to `pcm` and `finish`; null when the sound cannot be encoded. */
export interface EncodeAnswer {
  readonly id: number
  readonly bytes: Uint8Array | null
}

declare const self: Worker

const createEncoder = createSpeechEncoders()
const encoders = new Map<number, Promise<SyncSpeechEncoder>>()

self.onmessage = async ({ data: request }: MessageEvent<EncodeRequest>) => {
  const { id } = request
  if (request.type === 'open') {
    encoders.set(id, createEncoder(request.format))
    return
  }
  if (request.type === 'close') {
    const encoder = encoders.get(id)
    encoders.delete(id)
    await encoder?.then((open) => open.release()).catch(() => {})
    return
  }
  const bytes = await encode(request).catch(() => null)
  self.postMessage({ id, bytes } satisfies EncodeAnswer)
}

async function encode(request: EncodeRequest): Promise<Uint8Array | null> {
  const encoder = await encoders.get(request.id)
  if (encoder === undefined) return null
  return request.type === 'pcm' ? encoder.push(request.pcm, request.rate) : encoder.finish()
}
