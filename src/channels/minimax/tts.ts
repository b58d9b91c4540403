import type { Clock } from '../../core/clock.ts'
import { parseUntrustedJson } from '../../core/json.ts'
import { TTS_EVENT_BYTES_MAX, TTS_SILENCE_MS_MAX } from '../../core/limits/upstream.ts'
import { EventStream } from '../../upstream/net/event-stream.ts'
import { createPost, type PostAnswer, readText } from '../../upstream/net/post.ts'
import type { SenderOptions } from '../../upstream/net/upstream-call.ts'
import { ChannelFailure } from '../../upstream/ports/failure.ts'
import {
  DEFAULT_VOICE,
  type PcmStream,
  SPEECH_RATE,
  type SpeechRequest,
  type Tts,
} from '../../upstream/ports/speech.ts'

/** The base URL is for example `https://api.minimaxi.com/v1` and may have `?GroupId=`. */
export interface MiniMaxTtsOptions extends SenderOptions {
  readonly model: string
  /** The operator's voice; empty for the platform's default voice, which is one of MiniMax. */
  readonly voice: string
  readonly clock: Clock
}

const TEXT_CHARS_MAX = 10_000

/** MiniMax accepts half to twice the usual pace. */
const paceOf = (speed: number) => Math.min(Math.max(speed, 0.5), 2)

/** MiniMax `POST /t2a_v2`, streamed; the server delivers 32 kHz samples. */
export function createMiniMaxTts(options: MiniMaxTtsOptions): Tts {
  const post = createPost({ ...options, timeoutMs: TTS_SILENCE_MS_MAX })
  const standard = options.voice === '' ? DEFAULT_VOICE : options.voice

  const ask = async (
    { text, voice, speed = 1 }: SpeechRequest,
    signal: AbortSignal,
  ): Promise<PcmStream> => {
    const body = {
      model: options.model,
      text,
      stream: true,
      stream_options: { exclude_aggregated_audio: true },
      voice_setting: { voice_id: voice, speed: paceOf(speed), vol: 1, pitch: 0 },
      audio_setting: { sample_rate: SPEECH_RATE, format: 'pcm', channel: 1 },
    }
    const headers = { 'content-type': 'application/json' }
    const answer = await post('/t2a_v2', { headers, body: JSON.stringify(body) }, signal)
    if ('failure' in answer) throw answer.failure
    return begin(answer)
  }

  return {
    name: 'minimax',
    textCharsMax: TEXT_CHARS_MAX,
    async speak(request, signal) {
      const wanted = request.voice === DEFAULT_VOICE ? standard : request.voice
      try {
        return await ask({ ...request, voice: wanted }, signal)
      } catch (error) {
        const refused = error instanceof Declined && error.voiceRefused
        if (!refused || wanted === standard) throw error
        return ask({ ...request, voice: standard }, signal)
      }
    },
  }
}

/** Resolves with the first sound, because refusals come in the body of a 200. */
async function begin(answer: PostAnswer): Promise<PcmStream> {
  const chunks = answer.contentType.includes('json') ? readWhole(answer) : readEvents(answer)
  try {
    const first = await chunks.next()
    if (first.done) throw new ChannelFailure('provider_error', 'empty audio')
    return { rate: SPEECH_RATE, chunks: withFirst(first.value, chunks) }
  } catch (error) {
    answer.close()
    throw error
  }
}

async function* withFirst(first: Uint8Array, rest: AsyncGenerator<Uint8Array>) {
  try {
    yield first
    yield* rest
  } finally {
    await rest.return(undefined)
  }
}

/** Refusals, and servers that do not stream, answer with one JSON object. */
async function* readWhole(answer: PostAnswer): AsyncGenerator<Uint8Array> {
  const sound = createEventReader().sound(await readText(answer, TTS_EVENT_BYTES_MAX))
  if (sound.length > 0) yield sound
}

async function* readEvents(answer: PostAnswer): AsyncGenerator<Uint8Array> {
  const reader = createEventReader()
  const stream = new EventStream(TTS_EVENT_BYTES_MAX)
  for await (const bytes of answer.body) {
    const events: string[] = []
    stream.push(bytes, events)
    for (const event of events) {
      const sound = reader.sound(event)
      if (sound.length > 0) yield sound
    }
  }
  const rest = stream.end()
  const sound = rest === null ? null : reader.sound(rest)
  if (sound !== null && sound.length > 0) yield sound
  if (!reader.ended) throw new ChannelFailure('provider_error', 'stream ended early')
}

/** The fields that are read of one JSON object of `POST /t2a_v2`, streamed or not. */
interface Event {
  readonly data?: { readonly audio?: unknown; readonly status?: unknown } | null
  readonly base_resp?: { readonly status_code?: unknown; readonly status_msg?: unknown } | null
}

/** The upstream answered 200 and said in the body that it did not do the work. */
class Declined extends ChannelFailure {
  constructor(
    code: number,
    /** Whether another voice may help. */
    readonly voiceRefused: boolean,
  ) {
    super(RETRYABLE.has(code) ? 'retry_exhausted' : 'provider_error', `status ${code}`, {
      retryable: RETRYABLE.has(code),
    })
  }
}

/** Unknown fault, timeout, requests a minute, tokens a minute. */
const RETRYABLE = new Set([1000, 1001, 1002, 1039])
const LAST = 2

/** Reads the events of one synthesis into its samples. */
export function createEventReader() {
  let heard = false
  let ended = false
  return {
    /** Whether the upstream has sent its last event. */
    get ended(): boolean {
      return ended
    },
    /** The sound of one event; throws `Declined`, or `ChannelFailure` for a malformed event. */
    sound(text: string): Uint8Array {
      const event = parse(text)
      const code = Number(event.base_resp?.status_code ?? 0)
      if (code !== 0) throw new Declined(code, /voice/i.test(String(event.base_resp?.status_msg)))
      const last = event.data?.status === LAST
      ended ||= last
      // The last event repeats the whole sound, unless it is the only one.
      if (last && heard) return new Uint8Array(0)
      const audio = hexBytes(event.data?.audio)
      heard ||= audio.length > 0
      return audio
    },
  }
}

function parse(text: string): Event {
  try {
    const value: unknown = parseUntrustedJson(text)
    if (typeof value === 'object' && value !== null) return value
  } catch {
    // The parser's message quotes the text, so it is not kept.
  }
  throw new ChannelFailure('provider_error', 'malformed answer')
}

function hexBytes(value: unknown): Uint8Array {
  if (value === undefined || value === null || value === '') return new Uint8Array(0)
  const bytes = typeof value === 'string' ? Buffer.from(value, 'hex') : null
  if (bytes !== null && bytes.length * 2 === String(value).length) return bytes
  throw new ChannelFailure('provider_error', 'malformed audio')
}
