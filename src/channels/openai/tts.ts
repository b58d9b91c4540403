import type { Clock } from '../../core/clock.ts'
import { TTS_SILENCE_MS_MAX } from '../../core/limits/upstream.ts'
import type { HttpFailure } from '../../upstream/net/http-failure.ts'
import { createPost } from '../../upstream/net/post.ts'
import type { SenderOptions } from '../../upstream/net/upstream-call.ts'
import {
  type AudioCodecs,
  DEFAULT_VOICE,
  type SpeechRequest,
  type Tts,
} from '../../upstream/ports/speech.ts'

export interface OpenAiTtsOptions extends SenderOptions {
  readonly model: string
  /** The operator's voice; empty when none is set. */
  readonly voice: string
  readonly clock: Clock
  readonly codecs: Pick<AudioCodecs, 'readSpeech'>
}

/** The limit of OpenAI; servers with the same API accept at least as much. */
const TEXT_CHARS_MAX = 4_096
/**
 * Raw samples mostly come without their rate. OpenAI and Kokoro always use this one, and servers
 * that read `sample_rate` obey it, so a request for it means the same to all of them.
 */
const RATE = 24_000

const VOICE_WORDS = /voice|speaker|音色/i
const FIELD_WORDS = /sample_rate|\bstream\b|extra|unrecogni[sz]ed|unexpected|unknown (field|param)/i

/** `POST /audio/speech` of OpenAI, Kokoro, Speaches, openedai-speech, SiliconFlow, LocalAI. */
export function createOpenAiTts(options: OpenAiTtsOptions): Tts {
  // Whether the server refuses the two fields that OpenAI does not have; tried once.
  let strict = false
  const standard = standardVoice(options)
  const post = createPost({ ...options, timeoutMs: TTS_SILENCE_MS_MAX })

  const ask = ({ text, speed = 1 }: SpeechRequest, voice: string, signal: AbortSignal) => {
    const extras = strict ? {} : { stream: true, sample_rate: RATE }
    const pace = speed === 1 ? {} : { speed }
    const usual = { model: options.model, input: text, voice, response_format: 'pcm' }
    const body = { ...usual, ...pace, ...extras }
    const headers = { 'content-type': 'application/json' }
    return post('/audio/speech', { headers, body: JSON.stringify(body) }, signal)
  }

  const askUntilUnderstood = async (request: SpeechRequest, signal: AbortSignal) => {
    let voice = voiceFor(request.voice, options)
    for (;;) {
      const answer = await ask(request, voice, signal)
      if (!('failure' in answer)) return answer
      if (!strict && complainsOf(answer, FIELD_WORDS)) strict = true
      else if (voice !== standard && complainsOf(answer, VOICE_WORDS)) voice = standard
      else throw answer.failure
    }
  }

  return {
    name: 'openai',
    textCharsMax: TEXT_CHARS_MAX,
    async speak(request, signal) {
      const answer = await askUntilUnderstood(request, signal)
      try {
        const { body, contentType } = answer
        const { tenantId } = request
        const speech = { body, contentType, fallbackRate: RATE, tenantId }
        return await options.codecs.readSpeech(speech, signal)
      } catch (error) {
        answer.close()
        throw error
      }
    },
  }
}

const complainsOf = ({ text }: HttpFailure, pattern: RegExp): boolean => pattern.test(text)

/** A voice that most servers of this interface know, or map to one of theirs. */
const COMMON_VOICE = 'alloy'

/** The voice behind the default id: a Mandarin one where the model is known to have it. */
function standardVoice({ model, voice }: Pick<OpenAiTtsOptions, 'model' | 'voice'>): string {
  if (voice !== '') return voice
  if (/kokoro/i.test(model)) return 'zf_xiaoxiao'
  // The voice ids of SiliconFlow begin with the model.
  if (/cosyvoice2|moss-ttsd|\/.*cosyvoice/i.test(model)) return `${model}:anna`
  if (/cosyvoice/i.test(model)) return 'longxiaochun'
  return COMMON_VOICE
}

/** The voice of an id. Ids other than the default are the server's own and stay unchanged. */
function voiceFor(id: string, options: Pick<OpenAiTtsOptions, 'model' | 'voice'>): string {
  return id === DEFAULT_VOICE ? standardVoice(options) : id
}
