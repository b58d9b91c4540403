import { Elysia } from 'elysia'
import { ASR_BODY_BYTES_MAX, BODY_BYTES_MAX, VOICE_BODY_BYTES_MAX } from '../../core/limits.ts'
import { ANY_KEY } from '../../core/principal.ts'
import { sessionId } from '../../core/session-id.ts'
import { charCount } from '../../core/text.ts'
import { readBytes, readJson } from '../../http/body.ts'
import type { Facts } from '../../http/facts.ts'
import type { Gate } from '../../http/gate.ts'
import { checkAudio, decodeAudio } from './audio-b64.ts'
import type { Stage, VoiceLoop } from './loop.ts'
import { TtsRequest, VoiceRequest } from './model.ts'
import { pcmBody } from './pcm-body.ts'
import type { Voice } from './service.ts'

export interface VoiceRouteOptions {
  readonly voice: Voice
  readonly loop: VoiceLoop
  readonly facts: Facts
  /** Takes note of a step of the voice loop. */
  readonly onStage: (request: Request, stage: Stage) => void
}

const PCM_HEADERS = {
  'content-type': 'application/octet-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
  'x-audio-format': 'pcm_s16le_32000_mono',
} as const

const ALLOW = { allow: ANY_KEY, parse: 'none' } as const

/** Speech synthesis, recognition and the voice loop (specification, Voice). */
export const voiceRoutes = (gate: Gate, { voice, loop, facts, onStage }: VoiceRouteOptions) =>
  new Elysia({ name: 'voice', seed: gate })
    .use(gate)
    .post(
      '/tts',
      async ({ request, server }) => {
        const input = await readJson(request, TtsRequest, BODY_BYTES_MAX)
        facts.note(request, { textChars: charCount(input.text) })
        server?.timeout(request, 0)
        const mp3 = await voice.speak(input, request.signal)
        return new Response(mp3, { headers: { 'content-type': 'audio/mpeg' } })
      },
      ALLOW,
    )
    .post(
      '/tts/stream',
      async ({ request, server }) => {
        const input = await readJson(request, TtsRequest, BODY_BYTES_MAX)
        facts.note(request, { textChars: charCount(input.text) })
        server?.timeout(request, 0)
        const left = new AbortController()
        const signal = AbortSignal.any([request.signal, left.signal])
        const pcm = await voice.stream(input, signal)
        const body = pcmBody(pcm, () => left.abort(new Error('client left')))
        return new Response(body, { headers: PCM_HEADERS })
      },
      ALLOW,
    )
    .post(
      '/asr',
      async ({ request, server }) => {
        const audio = checkAudio(await readBytes(request, ASR_BODY_BYTES_MAX))
        server?.timeout(request, 0)
        const text = await voice.transcribe(audio, request.signal)
        facts.note(request, { textChars: charCount(text) })
        return { text }
      },
      ALLOW,
    )
    .post(
      '/voice',
      async ({ principal, request, server }) => {
        const { audio_b64, session_id, ...rest } = await readJson(
          request,
          VoiceRequest,
          VOICE_BODY_BYTES_MAX,
        )
        const turn = {
          principal,
          audio: decodeAudio(audio_b64),
          sessionId: sessionId(session_id),
          request: rest,
        }
        server?.timeout(request, 0)
        return loop.run(turn, request.signal, (stage) => onStage(request, stage))
      },
      ALLOW,
    )
