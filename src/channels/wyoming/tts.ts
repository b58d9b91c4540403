import type { Clock } from '../../core/clock.ts'
import { TTS_FIRST_AUDIO_MS_MAX } from '../../core/limits/upstream.ts'
import { ChannelFailure } from '../../upstream/ports/failure.ts'
import { DEFAULT_VOICE, type PcmStream, type Tts } from '../../upstream/ports/speech.ts'
import type { WyomingEvent } from '../../upstream/ports/wyoming.ts'
import { connect, parseAddress, type WyomingConnection } from './connection.ts'

export interface WyomingTtsOptions {
  /** `tcp://host:port`, usually port 10200. */
  readonly baseUrl: string
  /** The operator's voice; empty for the server's own default. */
  readonly voice: string
  readonly clock: Clock
}

const TEXT_CHARS_MAX = 1_000
const SAMPLE_BYTES = 2

/** Speech by a Wyoming server such as piper. */
export function createWyomingTts({ baseUrl, voice: own, clock }: WyomingTtsOptions): Tts {
  const ask = async (text: string, voice: string, signal: AbortSignal): Promise<PcmStream> => {
    const connection = await connect(parseAddress(baseUrl), clock, signal)
    try {
      const named = voice === '' ? {} : { voice: { name: voice } }
      await connection.send('synthesize', { text, ...named })
      return await begin(connection)
    } catch (error) {
      connection.close()
      throw error
    }
  }

  return {
    name: 'wyoming',
    textCharsMax: TEXT_CHARS_MAX,
    async speak({ text, voice }, signal) {
      const wanted = voice === DEFAULT_VOICE ? own : voice
      try {
        return await ask(text, wanted, signal)
      } catch (error) {
        // The server answers an unknown voice with an error or a closed connection.
        const refused = error instanceof ChannelFailure && error.phrase !== 'connection failed'
        if (!refused || wanted === own) throw error
        return ask(text, own, signal)
      }
    },
  }
}

async function begin(connection: WyomingConnection): Promise<PcmStream> {
  const first = connection.events(TTS_FIRST_AUDIO_MS_MAX)
  const { value: start } = await first.next()
  if (start?.type !== 'audio-start') throw new ChannelFailure('provider_error', 'no audio')
  const { rate, width, channels } = start.data
  if (typeof rate !== 'number' || width !== SAMPLE_BYTES || channels !== 1) {
    throw new ChannelFailure('provider_error', 'unusable audio format')
  }
  return { rate, chunks: sound(connection, first) }
}

async function* sound(connection: WyomingConnection, events: AsyncGenerator<WyomingEvent>) {
  try {
    for await (const event of events) {
      if (event.type === 'audio-chunk') yield event.payload
      else if (event.type === 'audio-stop') return
    }
  } finally {
    connection.close()
  }
}
