import type { Clock } from '../../core/clock.ts'
import { ASR_MS_MAX } from '../../core/limits/machine.ts'
import { ChannelFailure } from '../../upstream/ports/failure.ts'
import {
  type Asr,
  type AsrHints,
  type AudioCodecs,
  RECOGNISER_RATE,
  type Transcript,
} from '../../upstream/ports/speech.ts'
import { connect, parseAddress, type WyomingConnection } from './connection.ts'

export interface WyomingAsrOptions {
  /** `tcp://host:port`, usually port 10300. */
  readonly baseUrl: string
  readonly clock: Clock
  readonly codecs: Pick<AudioCodecs, 'decode'>
}

const CHINESE: AsrHints = { language: 'zh' }
const FORMAT = { rate: RECOGNISER_RATE, width: 2, channels: 1 }

/** Recognition by a Wyoming server such as faster-whisper; it takes samples, not files. */
export function createWyomingAsr({ baseUrl, clock, codecs }: WyomingAsrOptions): Asr {
  return {
    name: 'wyoming',
    async transcribe(clip, signal, hints = CHINESE) {
      const pcm = codecs.decode(clip, RECOGNISER_RATE, signal)
      const connection = await connect(parseAddress(baseUrl), clock, signal)
      try {
        const { language } = hints
        await connection.send('transcribe', language ? { language } : {})
        await connection.send('audio-start', { ...FORMAT, timestamp: 0 })
        for await (const chunk of pcm) await connection.send('audio-chunk', FORMAT, chunk)
        await connection.send('audio-stop', { timestamp: 0 })
        return await transcript(connection)
      } finally {
        connection.close()
      }
    },
  }
}

async function transcript(connection: WyomingConnection): Promise<Transcript> {
  for await (const { type, data } of connection.events(ASR_MS_MAX)) {
    if (type !== 'transcript' || typeof data.text !== 'string') continue
    const { text, language } = data
    return typeof language === 'string' ? { text, language } : { text }
  }
  throw new ChannelFailure('provider_error', 'no transcript')
}
