import type { SpokenSentence } from '../voice/spoken-turn.ts'
import type { Told } from './messages.ts'
import type { Pace } from './pace.ts'

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
