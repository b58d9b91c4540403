import { wavOf } from '../studio/wav.ts'
import { createDetector, loudness } from './detector.ts'

/** Set by the build: the address of the script that hears samples. */
declare const LISTENER_ADDRESS: string

/** What was heard before a voice was known to speak belongs to its first word. */
const BEFORE_MS = 500
/** The loudness that fills a meter: speech near the microphone. */
const LOUD = 0.25

export interface EarEvents {
  readonly onBegins: () => void
  /** What was said, with the moment before it. */
  readonly onEnds: (said: AudioBuffer) => void
  /** The microphone was taken away. */
  readonly onLost: () => void
  /** Whether the call itself speaks, and may be heard by the microphone. */
  readonly isSpeaking: () => boolean
}

export interface EarOfCall {
  /** How loud it hears, from 0 to 1. */
  level(): number
  /** What is said while it is muted is silence, here and to the browser. */
  mute(isMuted: boolean): void
}

/** The script that hears samples did not come. */
export class NotLoaded extends Error {}

/**
 * Listens until `left` aborts, which releases the microphone. Rejects with `NotLoaded`, or as
 * `getUserMedia` does.
 */
export async function openEar(
  context: AudioContext,
  events: EarEvents,
  left: AbortSignal,
): Promise<EarOfCall> {
  const audio = { echoCancellation: true, noiseSuppression: true, autoGainControl: true }
  const stream = await navigator.mediaDevices.getUserMedia({ audio })
  const release = () => {
    for (const track of stream.getTracks()) track.stop()
  }
  left.addEventListener('abort', release)
  if (left.aborted) release()
  left.throwIfAborted()
  for (const track of stream.getTracks()) track.addEventListener('ended', events.onLost)
  try {
    await context.audioWorklet.addModule(LISTENER_ADDRESS)
  } catch (error) {
    throw new NotLoaded('the listener did not load', { cause: error })
  }
  left.throwIfAborted()
  const listener = new AudioWorkletNode(context, 'listener')
  // A node that leads nowhere may sleep; what this one puts out is silence.
  context.createMediaStreamSource(stream).connect(listener).connect(context.destination)
  let level = 0
  const hear = createHearing(context, events)
  listener.port.onmessage = ({ data }: MessageEvent<Float32Array<ArrayBuffer>>) => {
    if (left.aborted) return
    level = loudness(data)
    hear(data, level)
  }
  return {
    level: () => Math.min(1, level / LOUD),
    mute(isMuted) {
      for (const track of stream.getAudioTracks()) track.enabled = !isMuted
    },
  }
}

function createHearing(context: AudioContext, { onBegins, onEnds, isSpeaking }: EarEvents) {
  const detector = createDetector()
  let frames: Float32Array<ArrayBuffer>[] = []
  let isSpeech = false
  return (frame: Float32Array<ArrayBuffer>, level: number): void => {
    const ms = (frame.length / context.sampleRate) * 1_000
    frames.push(frame)
    const heard = detector.push(level, ms, isSpeaking())
    if (heard === 'begins') {
      isSpeech = true
      onBegins()
    } else if (heard === 'ends') {
      isSpeech = false
      onEnds(joined(context, frames))
      frames = []
    } else if (!isSpeech) frames = frames.slice(-Math.ceil(BEFORE_MS / ms))
  }
}

function joined(context: AudioContext, frames: readonly Float32Array<ArrayBuffer>[]): AudioBuffer {
  const length = frames.reduce((sum, frame) => sum + frame.length, 0)
  const sound = context.createBuffer(1, length, context.sampleRate)
  let at = 0
  for (const frame of frames) {
    sound.copyToChannel(frame, 0, at)
    at += frame.length
  }
  return sound
}

/** Several sounds after one another, as a recogniser takes them. */
export const wavOfAll = (context: AudioContext, sounds: readonly AudioBuffer[]): Promise<Blob> =>
  wavOf(
    joined(
      context,
      sounds.map((sound) => sound.getChannelData(0)),
    ),
  )
