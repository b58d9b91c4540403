import type { Clock } from '../../core/clock.ts'
import { ASR_MS_MAX } from '../../core/limits/machine.ts'
import { ChannelFailure } from '../ports/failure.ts'
import { type Asr, type AudioCodecs, RECOGNISER_RATE } from '../ports/speech.ts'
import { connect, parseAddress, type WyomingConnection } from './connection.ts'

export interface WyomingAsrOptions {
  /** `tcp://host:port`, usually port 10300. */
  readonly baseUrl: string
  readonly clock: Clock
  readonly codecs: Pick<AudioCodecs, 'decode'>
}

const FORMAT = { rate: RECOGNISER_RATE, width: 2, channels: 1 }

/** Recognition by a Wyoming server such as faster-whisper; it takes samples, not files. */
export function createWyomingAsr({ baseUrl, clock, codecs }: WyomingAsrOptions): Asr {
  return {
    name: 'wyoming',
    async transcribe(clip, signal) {
      const pcm = codecs.decode(clip, RECOGNISER_RATE, signal)
      const connection = await connect(parseAddress(baseUrl), clock, signal)
      try {
        await connection.send('transcribe', { language: 'zh' })
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

async function transcript(connection: WyomingConnection): Promise<string> {
  for await (const { type, data } of connection.events(ASR_MS_MAX)) {
    if (type === 'transcript' && typeof data.text === 'string') return data.text
  }
  throw new ChannelFailure('provider_error', 'no transcript')
}
