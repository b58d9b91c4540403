import { pulledStream } from '../../core/large-bytes.ts'
import { LISTENING_MS_MAX } from '../../core/limits/upstream.ts'
import { EVERYONE } from '../../core/principal.ts'
import { charCount } from '../../core/text.ts'
import type { OpenTurns } from '../../features/agent/open-turns.ts'
import type { Voice } from '../../features/voice/service.ts'
import type { SpeechOutput, Utterance } from '../../features/voice/speech.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import type { RequestContexts } from '../../http/observe.ts'
import { openAiStream } from '../../http/openai-answers.ts'
import { answerDoc, bytesContent, EVENTS_CONTENT } from '../../http/openapi-parts.ts'
import { withoutIdleTimeout } from '../../http/request-limits.ts'
import { DEFAULT_VOICE, OPENAI_SPEECH_RATE, SPEECH_RATE } from '../../upstream/ports/speech.ts'
import { SPEECH_TYPES, SpeechRequest } from './audio-model.ts'

export interface SpeechRouteOptions {
  readonly voice: Voice
  readonly contexts: RequestContexts
  /** Ends the speech when its key is revoked. */
  readonly openTurns: Pick<OpenTurns, 'stream'>
}

const body = jsonBody(SpeechRequest)

/** POST /v1/audio/speech, as clients of OpenAI's API call it. */
export const speechRoutes = (on: Gated, { voice, contexts, openTurns }: SpeechRouteOptions) =>
  on.post(
    '/audio/speech',
    async ({ principal, request, upload, server }) => {
      const input = await body.read(request, upload)
      contexts.note(request, { textChars: charCount(input.input) })
      const left = new AbortController()
      const signal = AbortSignal.any([request.signal, left.signal])
      const output = outputOf(input)
      const utterance: Utterance = {
        text: input.input,
        voice: voiceOf(input, voice.speaks()),
        tenantId: principal.tenantId,
        ...(input.speed == null ? {} : { speed: input.speed }),
      }
      const begin = (guarded: AbortSignal) => voice.stream(utterance, output, guarded)
      const begun = await withoutIdleTimeout(request, server, () =>
        openTurns.stream(principal, signal, begin, LISTENING_MS_MAX),
      )
      const speech = contexts.timed(request, begun)
      const onLeave = () => left.abort(new Error('client left'))
      if (input.stream_format === 'sse') return openAiStream(eventsOf(speech), onLeave)
      const headers = { ...UNBUFFERED, 'content-type': SPEECH_TYPES[input.response_format] }
      return new Response(pulledStream(speech, onLeave), { headers })
    },
    {
      allow: EVERYONE,
      parse: 'none',
      detail: {
        summary: 'Speak a text, as OpenAI does',
        requestBody: body.doc,
        responses: answerDoc('Sound as response_format says; it streams', {
          ...bytesContent(...Object.values(SPEECH_TYPES)),
          ...EVENTS_CONTENT,
        }),
      },
    },
  )

const UNBUFFERED = { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' } as const

const outputOf = ({ response_format: format }: SpeechRequest): SpeechOutput => ({
  format,
  rate: format === 'mp3' ? SPEECH_RATE : OPENAI_SPEECH_RATE,
})

/** OpenAI's voices, which clients name because they have to name some. */
const OPENAI_VOICES = new Set(
  'alloy ash ballad cedar coral echo fable marin nova onyx sage shimmer verse'.split(' '),
)

function voiceOf({ voice }: SpeechRequest, speaks: string | null): string {
  const id = voice?.trim() ?? ''
  const isForeign = speaks !== 'openai' && OPENAI_VOICES.has(id.toLowerCase())
  return id === '' || isForeign ? DEFAULT_VOICE : id
}

async function* eventsOf(speech: AsyncIterable<Uint8Array>) {
  for await (const sound of speech) {
    yield { type: 'speech.audio.delta', audio: Buffer.from(sound).toString('base64') }
  }
  yield { type: 'speech.audio.done' }
}
