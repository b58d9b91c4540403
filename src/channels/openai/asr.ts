import type { Clock } from '../../core/clock.ts'
import { parseUntrustedJson } from '../../core/json.ts'
import { ASR_MS_MAX } from '../../core/limits/machine.ts'
import { createPost, readText } from '../net/post.ts'
import type { SenderOptions } from '../net/upstream-call.ts'
import { ChannelFailure } from '../ports/failure.ts'
import type { Asr, AudioCodecs } from '../ports/speech.ts'

export interface OpenAiAsrOptions extends SenderOptions {
  readonly model: string
  readonly clock: Clock
  readonly codecs: Pick<AudioCodecs, 'sniff'>
}

/** A punctuated sentence leads Whisper to punctuate its own (specification, `POST /v1/asr`). */
const PROMPT = '以下是普通话的句子，请加上标点符号。'
const GUIDANCE = { language: 'zh', prompt: PROMPT, temperature: '0', response_format: 'json' }
const ANSWER_BYTES_MAX = 1024 * 1024
const FIELD_WORDS = /language|prompt|temperature|response_format|extra|unrecogni[sz]ed|unexpected/i

/** `POST /audio/transcriptions` of OpenAI, Groq, Speaches, SiliconFlow, FunASR, whisper.cpp. */
export function createOpenAiAsr(options: OpenAiAsrOptions): Asr {
  // Some servers take nothing but the file and the model; found out once.
  let strict = false
  const post = createPost({ ...options, timeoutMs: ASR_MS_MAX })

  const ask = (bytes: Uint8Array, signal: AbortSignal) => {
    const form = new FormData()
    // The servers tell formats by the name, so an unknown one must have some usual name.
    const kind = options.codecs.sniff(bytes)
    const type = kind?.mime ?? 'application/octet-stream'
    form.set(
      'file',
      new Blob([bytes as Uint8Array<ArrayBuffer>], { type }),
      `audio.${kind?.extension ?? 'wav'}`,
    )
    form.set('model', options.model)
    if (!strict) for (const [name, value] of Object.entries(GUIDANCE)) form.set(name, value)
    return post('/audio/transcriptions', { body: form }, signal)
  }

  return {
    name: 'openai',
    async transcribe({ bytes }, signal) {
      for (;;) {
        const answer = await ask(bytes, signal)
        if (!('failure' in answer)) {
          return textOf(await readText(answer, ANSWER_BYTES_MAX), answer.contentType)
        }
        const { failure, text } = answer
        if (strict || failure.status === 404 || !FIELD_WORDS.test(text)) throw failure
        strict = true
      }
    },
  }
}

/** `{text}`, or the bare text that some servers send whatever format was asked for. */
function textOf(body: string, contentType: string): string {
  if (contentType.startsWith('text/plain') && !body.trimStart().startsWith('{')) return body
  const text = parse(body)?.text
  if (typeof text === 'string') return text
  throw new ChannelFailure('provider_error', 'malformed transcription')
}

function parse(body: string): { readonly text?: unknown } | null {
  try {
    const value = parseUntrustedJson(body)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}
