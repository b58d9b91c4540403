import type { Clock } from '../../core/clock.ts'
import type { SpokenSentence } from '../voice/spoken-turn.ts'
import { FRAME_MS, type Told } from './messages.ts'

/** A packet is sent when less than this is left to play, so at most 300 ms lie at the board. */
const AHEAD_MS = 240

/**
 * Sends a speech a little faster than it is played: a board that loses the network for a moment
 * plays on, and its queue of 2.4 s never runs over.
 */
export function createPace(clock: Clock) {
  /** When the board has played what it was sent, on the steady clock. */
  let playedAt = 0
  const wait = async (ms: number, signal: AbortSignal) => {
    if (ms > 0) await clock.sleep(ms, signal)
  }
  return {
    /** Resolves when the next packet is due. */
    due: (signal: AbortSignal) => wait(playedAt - clock.steady() - AHEAD_MS, signal),
    /** A packet was sent. */
    sent(): void {
      playedAt = Math.max(playedAt, clock.steady()) + FRAME_MS
    },
    /** Resolves when the board has played everything. */
    played: (signal: AbortSignal) => wait(playedAt - clock.steady(), signal),
    /** The board was told to stop. */
    stop(): void {
      playedAt = 0
    },
  }
}

export type Pace = ReturnType<typeof createPace>

export interface MouthOptions {
  readonly tell: (told: Told) => void
  readonly sendPacket: (packet: Uint8Array) => void
  readonly pace: Pace
  readonly signal: AbortSignal
  /** Called with the first sound. */
  readonly onSound: () => void
}

const LENGTH_BYTES = 2

/** Plays sentences on a board, between the messages that its speech begins and has ended. */
export function createMouth({ tell, sendPacket, pace, signal, onSound }: MouthOptions) {
  let isOpen = false

  const subtitle = (text: string) => tell({ type: 'tts', state: 'sentence_start', text })

  async function play(text: string, sound: AsyncIterable<Uint8Array>): Promise<void> {
    let isBegun = false
    for await (const chunk of sound) {
      for (const packet of packetsIn(chunk)) {
        await pace.due(signal)
        signal.throwIfAborted()
        if (!isBegun) {
          subtitle(text)
          onSound()
          isBegun = true
        }
        sendPacket(packet)
        pace.sent()
      }
    }
  }

  return {
    /** Frames that come before it are dropped by the board, so it goes out early. */
    open(): void {
      if (!isOpen) tell({ type: 'tts', state: 'start' })
      isOpen = true
    },

    /** Shows the sentence with its first sound, and alone when it cannot be spoken. */
    async say({ text, sound }: SpokenSentence): Promise<void> {
      try {
        await play(text, await sound)
      } catch (error) {
        if (!signal.aborted) subtitle(text)
        throw error
      }
    },

    close(): void {
      if (isOpen) tell({ type: 'tts', state: 'stop' })
      isOpen = false
    },
  }
}

export type Mouth = ReturnType<typeof createMouth>

/** Each packet stands behind its length. */
function* packetsIn(chunk: Uint8Array): Generator<Uint8Array> {
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  for (let at = 0; at + LENGTH_BYTES <= chunk.length; ) {
    const start = at + LENGTH_BYTES
    at = start + view.getUint16(at)
    yield chunk.subarray(start, at)
  }
}
