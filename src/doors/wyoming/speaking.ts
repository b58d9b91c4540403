import { TTS_TEXT_CHARS_MAX, VOICE_ID_CHARS_MAX } from '../../core/limits/contract.ts'
import { charCount, firstChars } from '../../core/text.ts'
import type { Voice } from '../../features/voice/service.ts'
import { createSentences } from '../../speech/sentences.ts'
import { speakSentence } from '../../speech/spoken-turn.ts'
import { DEFAULT_VOICE, OPENAI_SPEECH_RATE } from '../../upstream/ports/speech.ts'
import type { WyomingPeer } from '../../upstream/ports/wyoming.ts'
import { OWN_VOICE } from './info.ts'

type Data = Readonly<Record<string, unknown>>

/** Who speaks, and for whom. */
interface Speaker {
  readonly voice: Pick<Voice, 'stream'>
  readonly tenantId: string
  readonly voiceId: string
}

const RATE = OPENAI_SPEECH_RATE
const FORMAT = { rate: RATE, width: 2, channels: 1 }
const BYTES_A_MS = (RATE * FORMAT.width) / 1_000

/** The voice that a client names in `synthesize` or `synthesize-start`. */
export function voiceOf({ voice }: Data): string {
  const { name } = (voice ?? {}) as { readonly name?: unknown }
  const isOther = typeof name === 'string' && name !== '' && name !== OWN_VOICE
  return isOther && name.length <= VOICE_ID_CHARS_MAX ? name : DEFAULT_VOICE
}

type Sound = AsyncGenerator<Uint8Array>

/** Sends a sound, with its beginning and its end; `timestamp` counts milliseconds. */
export async function play({ send }: WyomingPeer, sound: Sound): Promise<void> {
  let bytes = 0
  const at = () => ({ timestamp: Math.round(bytes / BYTES_A_MS) })
  await send('audio-start', { ...FORMAT, ...at() })
  for await (const samples of sound) {
    await send('audio-chunk', { ...FORMAT, ...at() }, samples)
    bytes += samples.length
  }
  await send('audio-stop', at())
}

type Begin = (text: string) => Promise<Sound>
type Sentences = ReturnType<typeof createSentences>

/** Speaks a text that arrives in pieces, sentence by sentence while it arrives. */
function createStreamedSpeech(
  sentences: Sentences,
  begin: Begin,
  peer: WyomingPeer,
  signal: AbortSignal,
) {
  const waiting: string[] = []
  let chars = 0
  let isOver = false
  let news = Promise.withResolvers<void>()

  function add(more: readonly string[]): void {
    waiting.push(...more)
    news.resolve()
  }

  async function next(): Promise<Promise<Sound> | null> {
    while (waiting.length === 0 && !isOver && !signal.aborted) {
      news = Promise.withResolvers()
      await news.promise
    }
    const text = waiting.shift()
    return text === undefined || signal.aborted ? null : begin(text)
  }

  signal.addEventListener('abort', () => news.resolve(), { once: true })

  return {
    /** Text beyond the limit of a speech is not spoken. */
    push(text: string): void {
      const taken = firstChars(text, TTS_TEXT_CHARS_MAX - chars)
      chars += charCount(taken)
      add(sentences.push(taken))
    },
    finish(): void {
      isOver = true
      add(sentences.finish())
    },
    chars: () => chars,
    /** Resolves when all was sent. Each sentence is begun while the previous one is played. */
    async run(): Promise<void> {
      let coming = next()
      for (let sound = await coming; sound !== null; sound = await coming) {
        coming = next()
        await play(peer, await sound)
      }
    },
  }
}

export type StreamedSpeech = ReturnType<typeof createStreamedSpeech>

const OUTPUT = { format: 'pcm', rate: RATE } as const

/** Begins to speak a text; rejects with an `AppError` when it cannot be spoken. */
export function beginSpeech(
  { voice, tenantId, voiceId }: Speaker,
  text: string,
  signal: AbortSignal,
): Promise<Sound> {
  const speak = (text: string) => voice.stream({ text, voice: voiceId, tenantId }, OUTPUT, signal)
  return speakSentence(speak, text, signal).sound
}

/** Speech of a text that will arrive in pieces. */
export const streamSpeech = (speaker: Speaker, peer: WyomingPeer, signal: AbortSignal) =>
  createStreamedSpeech(
    createSentences(),
    (text) => beginSpeech(speaker, text, signal),
    peer,
    signal,
  )
