/** The least loudness (root mean square, full scale is 1) that counts as speech. */
const LOUD_MIN = 0.012
/** Speech is this much louder than the noise of the room. */
const ABOVE_NOISE = 3
/** Over its own voice, which may come back through the loudspeaker, a call asks for more. */
const OVER_OWN_VOICE = 2.5
/** A click of a key is shorter than a word. */
const BEGINS_MS = 120
const BEGINS_OVER_VOICE_MS = 260
/** A pause to think is shorter. */
const ENDS_MS = 900
/** The quiet part of a word is softer than what begins it. */
const GOES_ON = 0.6
/** A longer one is cut, so that a fan that starts up cannot hold a call for ever. */
const SPEECH_MS_MAX = 60_000
const FALLS = 0.2
const RISES = 0.01

export type Heard = 'begins' | 'ends' | null

/** The loudness of samples, from 0 to 1. */
export const loudness = (samples: Float32Array): number =>
  Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length)

/**
 * Tells by loudness where speech begins and ends. The noise of the room is learned from what is no
 * speech: fast when it falls, slowly when it rises.
 */
export function createDetector() {
  let noise = LOUD_MIN / ABOVE_NOISE
  let isSpeech = false
  let loudMs = 0
  let quietMs = 0
  let speechMs = 0

  function waiting(level: number, ms: number, overVoice: boolean): Heard {
    const least = Math.max(LOUD_MIN, noise * ABOVE_NOISE) * (overVoice ? OVER_OWN_VOICE : 1)
    const isLoud = level >= least
    loudMs = isLoud ? loudMs + ms : Math.max(0, loudMs - ms)
    if (!isLoud && !overVoice) noise += (level - noise) * (level < noise ? FALLS : RISES)
    if (loudMs < (overVoice ? BEGINS_OVER_VOICE_MS : BEGINS_MS)) return null
    isSpeech = true
    quietMs = 0
    speechMs = 0
    return 'begins'
  }

  function speaking(level: number, ms: number): Heard {
    const isQuiet = level < Math.max(LOUD_MIN, noise * ABOVE_NOISE) * GOES_ON
    quietMs = isQuiet ? quietMs + ms : 0
    speechMs += ms
    if (quietMs < ENDS_MS && speechMs < SPEECH_MS_MAX) return null
    // What lasted that long and never paused is the noise of the room.
    if (quietMs === 0) noise = level
    isSpeech = false
    loudMs = 0
    return 'ends'
  }

  return {
    /** Takes the loudness of the next `ms`; `overVoice` while the call itself speaks. */
    push: (level: number, ms: number, overVoice: boolean): Heard =>
      isSpeech ? speaking(level, ms) : waiting(level, ms, overVoice),
  }
}
