import { decoded, wavOf } from './wav.ts'

const SLICE_MS = 250

export interface Recording {
  /** Ends the recording; resolves with a mono 16 kHz WAV. */
  stop(): Promise<Blob>
  /** The current loudness, from 0 to 1. */
  level(): number
}

/**
 * Records until it is stopped, or until `left` aborts. Resolves with the first samples, so that the
 * page shows recording only once the microphone works.
 */
export async function record(left: AbortSignal): Promise<Recording> {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true })
  const release = () => {
    for (const track of stream.getTracks()) track.stop()
  }
  left.addEventListener('abort', release)
  if (left.aborted) release()
  try {
    return await recordStream(stream, release)
  } catch (error) {
    release()
    throw error
  }
}

async function recordStream(stream: MediaStream, release: () => void): Promise<Recording> {
  const recorder = new MediaRecorder(stream)
  const parts: Blob[] = []
  const listening = new Promise<void>((resolve) => {
    recorder.ondataavailable = ({ data }) => {
      parts.push(data)
      resolve()
    }
  })
  // It ends by itself where the microphone is taken away.
  const ended = new Promise((resolve) => {
    recorder.onstop = resolve
  })
  recorder.start(SLICE_MS)
  await listening
  const level = meterOf(stream, recorder)
  const stop = async () => {
    if (recorder.state !== 'inactive') recorder.stop()
    await ended
    release()
    // Not every recogniser reads WebM or MP4, as browsers record.
    return wavOf(await decoded(new Blob(parts)))
  }
  return { stop, level }
}

const METER_SAMPLES = 1_024
/** The loudness that fills the meter: speech near the microphone. */
const LOUD = 0.25

/** Measures how loud the stream is, until its recording ends. */
function meterOf(stream: MediaStream, recorder: MediaRecorder): () => number {
  const context = new AudioContext()
  const meter = context.createAnalyser()
  meter.fftSize = METER_SAMPLES
  context.createMediaStreamSource(stream).connect(meter)
  // A track that is stopped by this page tells nobody of its end.
  if (recorder.state === 'inactive') void context.close()
  else recorder.addEventListener('stop', () => void context.close())
  const samples = new Float32Array(METER_SAMPLES)
  return () => {
    meter.getFloatTimeDomainData(samples)
    const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / METER_SAMPLES
    return Math.min(1, Math.sqrt(power) / LOUD)
  }
}
