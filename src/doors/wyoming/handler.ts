import { TTS_TEXT_CHARS_MAX } from '../../core/limits/contract.ts'
import { charCount } from '../../core/text.ts'
import type { Voice } from '../../features/voice/service.ts'
import { speakable } from '../../speech/speech-text.ts'
import type { WyomingEvent, WyomingHandler, WyomingPeer } from '../../upstream/ports/wyoming.ts'
import { type ConversationParts, converse } from './conversation.ts'
import { infoOf } from './info.ts'
import { createRecording, type Recording } from './recording.ts'
import { createRequests, type RequestOptions } from './requests.ts'
import { beginSpeech, play, type StreamedSpeech, streamSpeech, voiceOf } from './speaking.ts'

export interface WyomingHandlerOptions extends RequestOptions, Pick<ConversationParts, 'agent'> {
  readonly voice: Pick<Voice, 'stream' | 'transcribe' | 'hears' | 'speaks'>
  /** Samples of 16 bits as a wav file. */
  readonly wav: (samples: Uint8Array, rate: number) => Uint8Array
  /** The version of this product. */
  readonly version: string
}

type Data = WyomingEvent['data']

/** Speech to text, text to speech and the agent for Home Assistant. */
export function createWyomingHandler(options: WyomingHandlerOptions) {
  const requests = createRequests(options)
  const { agent } = options

  return (peer: WyomingPeer): WyomingHandler => {
    const hearing = createHearing(options, requests, peer)
    const speaking = createSpeaking(options, requests, peer)

    async function describe(): Promise<void> {
      const { version, voice } = options
      if ((await requests.admitted(peer)) === null) return
      await peer.send('info', infoOf({ version, hears: voice.hears(), speaks: voice.speaks() }))
    }

    const answer = (data: Data) =>
      requests.run(peer, ({ principal, take }, note) =>
        converse({ agent, take }, principal, data, peer, note),
      )

    /** Other events are ignored. */
    const handlers: Readonly<Record<string, (event: WyomingEvent) => unknown>> = {
      describe,
      ping: ({ data }) => peer.send('pong', data),
      transcript: ({ data }) => answer(data),
      transcribe: ({ data }) => hearing.begin(data),
      'audio-start': ({ data }) => hearing.start(data),
      'audio-chunk': ({ data, payload }) => hearing.add(data, payload),
      'audio-stop': () => hearing.stop(),
      synthesize: ({ data }) => speaking.whole(data),
      'synthesize-start': ({ data }) => speaking.start(data),
      'synthesize-chunk': ({ data }) => speaking.add(data),
      'synthesize-stop': () => speaking.stop(),
    }

    return async (event) => {
      const isKnown = Object.hasOwn(handlers, event.type)
      try {
        if (isKnown) await handlers[event.type]?.(event)
      } catch (error) {
        await requests.fail(peer, error)
      }
    }
  }
}

type Requests = ReturnType<typeof createRequests>

/** Speech to text: recognises the sound between two events as a whole. */
function createHearing(
  { voice, wav }: WyomingHandlerOptions,
  requests: Requests,
  peer: WyomingPeer,
) {
  let recording: Recording | null = null

  const transcribe = ({ language, hints, take }: Recording) =>
    requests.watch(peer, async (tenantId, signal, note) => {
      const { samples, rate } = take()
      const clip = { bytes: wav(samples, rate), tenantId }
      const isEmpty = samples.length === 0
      const heard = isEmpty ? { text: '' } : await voice.transcribe(clip, signal, hints)
      note({ textChars: charCount(heard.text) })
      await peer.send('transcript', { text: heard.text, language: language ?? heard.language })
    })

  return {
    begin(data: Data): void {
      recording = createRecording(data)
    },
    start(data: Data): void {
      recording ??= createRecording({})
      recording.start(data)
    },
    add: (data: Data, samples: Uint8Array): void => recording?.add(data, samples),
    async stop(): Promise<void> {
      const ended = recording
      recording = null
      if (ended) await transcribe(ended)
    },
  }
}

/** Text to speech, for a whole text or one that arrives in pieces. */
function createSpeaking(options: WyomingHandlerOptions, requests: Requests, peer: WyomingPeer) {
  const { voice } = options
  let open: { readonly speech: StreamedSpeech; readonly done: Promise<void> } | null = null

  const speak = (data: Data) =>
    requests.watch(peer, async (tenantId, signal, note) => {
      const text = speakable(textOf(data), TTS_TEXT_CHARS_MAX)
      note({ textChars: charCount(text) })
      const how = { voice, tenantId, voiceId: voiceOf(data) }
      await play(peer, text === '' ? silence() : await beginSpeech(how, text, signal))
    })

  /** Resolves when pieces can be added. */
  function start(data: Data): Promise<void> {
    const started = Promise.withResolvers<void>()
    const done = requests
      .watch(peer, async (tenantId, signal, note) => {
        const speech = streamSpeech({ voice, tenantId, voiceId: voiceOf(data) }, peer, signal)
        open = { speech, done }
        started.resolve()
        await speech.run()
        signal.throwIfAborted()
        note({ textChars: speech.chars() })
        await peer.send('synthesize-stopped')
      })
      .finally(() => {
        open = null
        started.resolve()
      })
    return started.promise
  }

  return {
    start: async (data: Data): Promise<void> => (open ? undefined : start(data)),
    /** Speaks a whole text, unless a stream is open: then it only repeats the stream's text. */
    whole: async (data: Data): Promise<void> => (open ? undefined : speak(data)),
    add: (data: Data): void => open?.speech.push(textOf(data)),
    async stop(): Promise<void> {
      open?.speech.finish()
      await open?.done
    },
  }
}

const textOf = ({ text }: Data): string => (typeof text === 'string' ? text.toWellFormed() : '')

async function* silence(): AsyncGenerator<Uint8Array> {}
