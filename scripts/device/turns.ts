import { writeFileSync } from 'node:fs'
import { SPEECH_RATE } from '../../src/upstream/ports/speech.ts'
import type { Server } from './server.ts'
import { asWav, openPlayer, playerNames } from './sound.ts'

export interface TurnOptions {
  readonly server: Server
  readonly say: (text: string) => void
  readonly session: string
  readonly voice: string | undefined
  /** A file for the sound, in place of the loudspeaker. */
  readonly out: string | undefined
}

export type Turns = ReturnType<typeof createTurns>

const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`

/** The turns of a device. */
export function createTurns({ server, say, session, voice, out }: TurnOptions) {
  return {
    /** Sends a recording to /v1/voice and gets the transcript, the answer and its sound. */
    async converse(sound: Uint8Array): Promise<void> {
      const begin = performance.now()
      const turn = await server.voice({ audio_b64: sound.toBase64(), session_id: session, voice })
      say(`You:    ${turn.asr_text}`)
      say(`Answer: ${turn.reply_text}`)
      say(`        after ${seconds(performance.now() - begin)}`)
      if (turn.audio_b64 === null) {
        say('        without sound: speech synthesis failed on the server')
        return
      }
      const mp3 = Uint8Array.fromBase64(turn.audio_b64)
      const player = out === undefined ? openPlayer('mp3') : null
      if (player) {
        await player.write(mp3)
        await player.end()
      } else save(out ?? 'moonbase-answer.mp3', mp3, 'mp3')
    },

    /** Plays streamed speech, and prints the time to the first sound. */
    async speak(text: string): Promise<void> {
      const begin = performance.now()
      const player = out === undefined ? openPlayer('pcm') : null
      const parts: Uint8Array[] = []
      let firstMs = 0
      let bytes = 0
      for await (const part of await server.speech({ text, voice })) {
        if (bytes === 0) firstMs = performance.now() - begin
        bytes += part.length
        if (player) await player.write(part)
        else parts.push(part)
      }
      const total = performance.now() - begin
      const length = (bytes / 2 / SPEECH_RATE) * 1_000
      say(
        `First sound after ${Math.round(firstMs)} ms, ` +
          `${seconds(length)} of speech within ${seconds(total)}.`,
      )
      if (player) await player.end()
      else save(out ?? 'moonbase-speech.wav', asWav(SPEECH_RATE, Buffer.concat(parts)), 'pcm')
    },
  }

  function save(path: string, bytes: Uint8Array, kind: 'mp3' | 'pcm'): void {
    writeFileSync(path, bytes)
    const why = out === undefined ? ` (no player found: ${playerNames(kind)})` : ''
    say(`        sound in ${path}${why}`)
  }
}
