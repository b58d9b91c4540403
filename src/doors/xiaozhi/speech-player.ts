import type { Clock } from '../../core/clock.ts'
import type { SpokenSentence } from '../../speech/spoken-turn.ts'
import { FRAME_MS, type ServerMessage } from './messages.ts'

/** A packet is sent when less is left to play: on a steady network a board holds 300 ms. */
const AHEAD_MS = 240

/**
 * Paces packets a little ahead of the playback: a board that loses the network for a moment plays
 * on, and its queue of 2.4 s has room for what then comes at once. After a gap of more than two
 * seconds the board drops what does not fit.
 */
export function createPlaybackPacer(clock: Clock) {
  /** When the board will have played everything that was sent, on the steady clock. */
  let playedAt = 0
  const wait = async (ms: number, signal: AbortSignal) => {
    if (ms > 0) await clock.sleep(ms, signal)
  }
  return {
    /** Resolves when the next packet is due. */
    due: (signal: AbortSignal) => wait(playedAt - clock.steady() - AHEAD_MS, signal),
    /** To be called after a packet was sent. */
    sent(): void {
      playedAt = Math.max(playedAt, clock.steady()) + FRAME_MS
    },
    /** Resolves when the board has played everything. */
    played: (signal: AbortSignal) => wait(playedAt - clock.steady(), signal),
    /** To be called when the board was told to stop. */
    stop(): void {
      playedAt = 0
    },
  }
}

export type PlaybackPacer = ReturnType<typeof createPlaybackPacer>

export interface SpeechPlayerOptions {
  readonly sendMessage: (message: ServerMessage) => void
  readonly sendPacket: (packet: Uint8Array) => void
  readonly pacer: PlaybackPacer
  readonly signal: AbortSignal
  /** Called with the first sound. */
  readonly onSound: () => void
}

const LENGTH_BYTES = 2

/** Plays sentences on a board, between the messages that start and stop its speech. */
export function createSpeechPlayer({
  sendMessage,
  sendPacket,
  pacer,
  signal,
  onSound,
}: SpeechPlayerOptions) {
  let isOpen = false

  const subtitle = (text: string) => sendMessage({ type: 'tts', state: 'sentence_start', text })

  async function play(text: string, sound: AsyncIterable<Uint8Array>): Promise<void> {
    let isBegun = false
    for await (const chunk of sound) {
      for (const packet of packetsIn(chunk)) {
        await pacer.due(signal)
        signal.throwIfAborted()
        if (!isBegun) {
          subtitle(text)
          onSound()
          isBegun = true
        }
        sendPacket(packet)
        pacer.sent()
      }
    }
  }

  return {
    /** Starts the speech early, because the board drops frames that come before that message. */
    open(): void {
      if (!isOpen) sendMessage({ type: 'tts', state: 'start' })
      isOpen = true
    },

    /** Shows the sentence with its first sound; only shows it when it cannot be spoken. */
    async say({ text, sound }: SpokenSentence): Promise<void> {
      try {
        await play(text, await sound)
      } catch (error) {
        if (!signal.aborted) subtitle(text)
        throw error
      }
    },

    close(): void {
      if (isOpen) sendMessage({ type: 'tts', state: 'stop' })
      isOpen = false
    },
  }
}

export type SpeechPlayer = ReturnType<typeof createSpeechPlayer>

/** Splits a chunk into packets, each of which comes after its length. */
function* packetsIn(chunk: Uint8Array): Generator<Uint8Array> {
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  for (let at = 0; at + LENGTH_BYTES <= chunk.length; ) {
    const start = at + LENGTH_BYTES
    at = start + view.getUint16(at)
    yield chunk.subarray(start, at)
  }
}
