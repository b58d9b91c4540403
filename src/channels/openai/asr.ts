import { z } from 'zod'
import type { Clock } from '../../core/clock.ts'
import { parseUntrustedJson } from '../../core/json.ts'
import { ASR_MS_MAX } from '../../core/limits/machine.ts'
import { createPost, readText } from '../../upstream/net/post.ts'
import type { SenderOptions } from '../../upstream/net/upstream-call.ts'
import { ChannelFailure } from '../../upstream/ports/failure.ts'
import type { Asr, AsrHints, AudioCodecs, Transcript } from '../../upstream/ports/speech.ts'

export interface OpenAiAsrOptions extends SenderOptions {
  readonly model: string
  readonly clock: Clock
  readonly codecs: Pick<AudioCodecs, 'sniff'>
}

/** A punctuated sentence leads Whisper to punctuate its own. */
const PROMPT = '以下是普通话的句子，请加上标点符号。'
const CHINESE: AsrHints = { language: 'zh', prompt: PROMPT, temperature: 0 }
const TEXT_BYTES_MAX = 1024 * 1024
/** Enough for the times of all words of an hour. */
const TIMES_BYTES_MAX = 4 * 1024 * 1024
const FIELD_WORDS =
  /language|prompt|temperature|response_format|timestamp|extra|unrecogni[sz]ed|unexpected/i

type Fields = readonly (readonly [name: string, value: string])[]

/** No further fields: some servers accept only the file and the model. */
const BARE: Fields = []

/** `POST /audio/transcriptions` of OpenAI, Groq, Speaches, SiliconFlow, FunASR, whisper.cpp. */
export function createOpenAiAsr(options: OpenAiAsrOptions): Asr {
  /** Which fields the server refuses; tried once. */
  const refuses = { guidance: false, times: false }
  const post = createPost({ ...options, timeoutMs: ASR_MS_MAX })

  const ask = (bytes: Uint8Array, fields: Fields, signal: AbortSignal) => {
    const form = new FormData()
    // Servers recognise formats by the file name, so an unknown format gets a usual name.
    const kind = options.codecs.sniff(bytes)
    const type = kind?.mime ?? 'application/octet-stream'
    form.set(
      'file',
      new Blob([bytes as Uint8Array<ArrayBuffer>], { type }),
      `audio.${kind?.extension ?? 'wav'}`,
    )
    form.set('model', options.model)
    for (const [name, value] of fields) form.append(name, value)
    return post('/audio/transcriptions', { body: form }, signal)
  }

  /** The attempts in order: with times, without times, without any optional field. */
  function attempts(hints: AsrHints | undefined): Fields[] {
    if (!hints) return refuses.guidance ? [BARE] : [fieldsOf(CHINESE), BARE]
    const { times, ...rest } = hints
    return times && !refuses.times
      ? [fieldsOf(hints), fieldsOf(rest), BARE]
      : [fieldsOf(rest), BARE]
  }

  return {
    name: 'openai',
    tellsWords: true,
    async transcribe({ bytes }, signal, hints) {
      const [first = BARE, ...others] = attempts(hints)
      let fields = first
      for (;;) {
        const answer = await ask(bytes, fields, signal)
        if (!('failure' in answer)) {
          const body = await readText(answer, hints?.times ? TIMES_BYTES_MAX : TEXT_BYTES_MAX)
          return transcriptOf(body, answer.contentType)
        }
        const { failure, text } = answer
        const next = others.shift()
        if (!next || failure.status === 404 || !FIELD_WORDS.test(text)) throw failure
        // A caller's hints may be at fault, so only a refusal of our own fields is remembered.
        if (!hints) refuses.guidance = true
        if (hints?.times && fields === first && TIME_WORDS.test(text)) refuses.times = true
        fields = next
      }
    },
  }
}

const TIME_WORDS = /response_format|timestamp/i

const TIMES: Readonly<Record<NonNullable<AsrHints['times']>, Fields>> = {
  segments: [['response_format', 'verbose_json']],
  words: [
    ['response_format', 'verbose_json'],
    ['timestamp_granularities[]', 'word'],
    ['timestamp_granularities[]', 'segment'],
  ],
}

function fieldsOf({ language, prompt, temperature, times }: AsrHints): Fields {
  return [
    ...(language ? [['language', language] as const] : []),
    ...(prompt ? [['prompt', prompt] as const] : []),
    ...(temperature === undefined ? [] : [['temperature', String(temperature)] as const]),
    ...(times ? TIMES[times] : [['response_format', 'json'] as const]),
  ]
}

const seconds = z.number().min(0)
const span = { start: seconds, end: seconds }
/** A list in which one time is not valid is left out. */
const VerboseJson = z.object({
  text: z.string(),
  segments: z
    .array(z.object({ ...span, text: z.string() }))
    .optional()
    .catch(undefined),
  words: z
    .array(z.object({ ...span, word: z.string() }))
    .optional()
    .catch(undefined),
  language: z.string().max(50).optional().catch(undefined),
  duration: seconds.optional().catch(undefined),
})

/** Reads `{text, …}`, or the bare text that some servers send for every requested format. */
function transcriptOf(body: string, contentType: string): Transcript {
  if (contentType.startsWith('text/plain') && !body.trimStart().startsWith('{')) {
    return { text: body }
  }
  const parsed = VerboseJson.safeParse(parse(body))
  if (!parsed.success) throw new ChannelFailure('provider_error', 'malformed transcription')
  const { text, segments, words, language, duration } = parsed.data
  return {
    text,
    ...(segments && { segments }),
    ...(words && { words: words.map(({ word, ...times }) => ({ ...times, text: word })) }),
    ...(language !== undefined && { language }),
    ...(duration !== undefined && { duration }),
  }
}

function parse(body: string): unknown {
  try {
    return parseUntrustedJson(body)
  } catch {
    return null
  }
}
