import { sessionId } from '../../core/fields.ts'
import { pulledStream, SMALL_BYTES, streamOf, totalBytes } from '../../core/large-bytes.ts'
import { ASR_BODY_BYTES_MAX, VOICE_BODY_BYTES_MAX } from '../../core/limits/contract.ts'
import { LISTENING_MS_MAX } from '../../core/limits/upstream.ts'
import { EVERYONE } from '../../core/principal.ts'
import { namedSubject } from '../../core/subject.ts'
import { charCount } from '../../core/text.ts'
import { jsonBody, readBytes } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import type { RequestContexts } from '../../http/observe.ts'
import { answerDoc, BYTES_BODY_DOC, bytesContent, jsonDoc } from '../../http/openapi-parts.ts'
import { withoutIdleTimeout } from '../../http/request-limits.ts'
import type { Stage } from '../../speech/stages.ts'
import { SPEECH_RATE } from '../../upstream/ports/speech.ts'
import type { OpenTurns } from '../agent/open-turns.ts'
import type { Sessions } from '../sessions/service.ts'
import { base64Pieces, checkAudio, decodeAudio } from './audio-b64.ts'
import { AsrResponse, TtsRequest, VoiceRequest, VoiceResponse } from './model.ts'
import type { Voice } from './service.ts'
import type { VoiceAnswer, VoiceLoop } from './voice-turn.ts'

export interface VoiceRouteOptions {
  readonly voice: Voice
  readonly loop: VoiceLoop
  readonly contexts: RequestContexts
  /** Ends a speech when its key is revoked. */
  readonly openTurns: Pick<OpenTurns, 'stream'>
  /** Called after each step of the voice loop, for the request log. */
  readonly onStage: (request: Request, stage: Stage) => void
}

type OwnSessions = Pick<Sessions, 'checkTurn'>

const PCM_HEADERS = {
  'content-type': 'application/octet-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
  'x-audio-format': 'pcm_s16le_32000_mono',
} as const

const PCM_DOC = answerDoc('PCM s16le, 32 kHz, mono', bytesContent(PCM_HEADERS['content-type']), {
  'X-Audio-Format': { schema: { type: 'string', const: PCM_HEADERS['x-audio-format'] } },
})

const PCM = { format: 'pcm', rate: SPEECH_RATE } as const

const speech = jsonBody(TtsRequest)
const spoken = jsonBody(VoiceRequest, { bytesMax: VOICE_BODY_BYTES_MAX })

/** Speech synthesis, recognition and the voice loop. */
export const voiceRoutes = (on: Gated, options: VoiceRouteOptions, sessions: OwnSessions) => {
  speakingRoutes(on, options)
  hearingRoutes(on, options, sessions)
}

const speakingRoutes = (on: Gated, { voice, contexts, openTurns }: VoiceRouteOptions) =>
  on
    .post(
      '/tts',
      async ({ principal, request, upload, server }) => {
        const input = await speech.read(request, upload)
        contexts.note(request, { textChars: charCount(input.text) })
        const utterance = { ...input, tenantId: principal.tenantId }
        const speak = () => voice.speak(utterance, request.signal)
        const mp3 = await withoutIdleTimeout(request, server, speak)
        return new Response(bodyOf(mp3), { headers: { 'content-type': 'audio/mpeg' } })
      },
      {
        allow: EVERYONE,
        parse: 'none',
        detail: {
          summary: 'Speak a text',
          requestBody: speech.doc,
          responses: answerDoc('mp3, 32 kHz, 128 kbps', bytesContent('audio/mpeg')),
        },
      },
    )
    .post(
      '/tts/stream',
      async ({ principal, request, upload, server }) => {
        const input = await speech.read(request, upload)
        contexts.note(request, { textChars: charCount(input.text) })
        const left = new AbortController()
        const signal = AbortSignal.any([request.signal, left.signal])
        const utterance = { ...input, tenantId: principal.tenantId }
        const begin = (guarded: AbortSignal) => voice.stream(utterance, PCM, guarded)
        const pcm = await withoutIdleTimeout(request, server, () =>
          openTurns.stream(principal, signal, begin, LISTENING_MS_MAX),
        )
        const body = pulledStream(contexts.timed(request, pcm), () =>
          left.abort(new Error('client left')),
        )
        return new Response(body, { headers: PCM_HEADERS })
      },
      {
        allow: EVERYONE,
        parse: 'none',
        detail: {
          summary: 'Speak a text as a stream',
          requestBody: speech.doc,
          responses: PCM_DOC,
        },
      },
    )

const hearingRoutes = (
  on: Gated,
  { voice, loop, contexts, onStage }: VoiceRouteOptions,
  sessions: OwnSessions,
) =>
  on
    .post(
      '/asr',
      async ({ principal, request, upload, server }) => {
        const audio = checkAudio(await readBytes(request, ASR_BODY_BYTES_MAX, upload))
        const clip = { bytes: audio, tenantId: principal.tenantId }
        const hear = () => voice.transcribe(clip, request.signal)
        const { text } = await withoutIdleTimeout(request, server, hear)
        contexts.note(request, { textChars: charCount(text) })
        return { text }
      },
      {
        allow: EVERYONE,
        parse: 'none',
        response: AsrResponse,
        detail: { summary: 'Recognise speech', requestBody: BYTES_BODY_DOC },
      },
    )
    .post(
      '/voice',
      async ({ principal, request, upload, server }) => {
        const { audio_b64, session_id, ...asks } = await spoken.read(request, upload)
        const rest = { ...asks, subject: namedSubject(principal, asks.subject, request.headers) }
        const session = sessionId(session_id)
        await sessions.checkTurn(principal, session)
        const audio = decodeAudio(audio_b64)
        const turn = { principal, audio, sessionId: session, request: rest }
        const note = (stage: Stage) => onStage(request, stage)
        const answer = await withoutIdleTimeout(request, server, () =>
          loop.answerVoice(turn, request.signal, note),
        )
        return voiceResponse(answer)
      },
      {
        allow: EVERYONE,
        parse: 'none',
        detail: {
          summary: 'Hear, answer and speak in one request',
          requestBody: spoken.doc,
          responses: jsonDoc(VoiceResponse),
        },
      },
    )

/** A long speech has 24 MB and more, so it is copied piece by piece as the client reads. */
const bodyOf = (parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> | ReadableStream =>
  totalBytes(parts) <= SMALL_BYTES ? Buffer.concat(parts) : streamOf(parts)

/** A `VoiceResponse`; a long speech is encoded in pieces, too. */
function voiceResponse({ heard, reply, mp3 }: VoiceAnswer): Response {
  const text = { asr_text: heard, reply_text: reply, audio_format: 'mp3' } as const
  const headers = { 'content-type': 'application/json' }
  if (mp3 === null) return Response.json({ ...text, audio_b64: null }, { headers })
  const start = `${JSON.stringify(text).slice(0, -1)},"audio_b64":"`
  const pieces = jsonAround(start, base64Pieces(mp3), '"}')
  const isSmall = totalBytes(mp3) <= SMALL_BYTES
  return new Response(isSmall ? Buffer.concat([...pieces]) : streamOf(pieces), { headers })
}

function* jsonAround(start: string, pieces: Iterable<string>, end: string) {
  yield Buffer.from(start)
  for (const piece of pieces) yield Buffer.from(piece, 'latin1')
  yield Buffer.from(end)
}
