const RATE = 16_000
const HEADER_BYTES = 44
const SLICE_MS = 250

/** Browsers allow recording only on https and localhost pages. */
export const mayRecord = (): boolean => navigator.mediaDevices !== undefined

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
  recorder.start(SLICE_MS)
  await listening
  const level = meterOf(stream)
  const stop = async () => {
    const ended = new Promise((resolve) => {
      recorder.onstop = resolve
    })
    recorder.stop()
    await ended
    release()
    return toWav(new Blob(parts))
  }
  return { stop, level }
}

const METER_SAMPLES = 1_024
/** The loudness that fills the meter: speech near the microphone. */
const LOUD = 0.25

/** Measures how loud the stream is. */
function meterOf(stream: MediaStream): () => number {
  const context = new AudioContext()
  const meter = context.createAnalyser()
  meter.fftSize = METER_SAMPLES
  context.createMediaStreamSource(stream).connect(meter)
  for (const track of stream.getTracks()) {
    track.addEventListener('ended', () => void context.close())
  }
  const samples = new Float32Array(METER_SAMPLES)
  return () => {
    meter.getFloatTimeDomainData(samples)
    const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / METER_SAMPLES
    return Math.min(1, Math.sqrt(power) / LOUD)
  }
}

/** Converts WebM or MP4 to WAV, because not every recogniser reads the formats of browsers. */
async function toWav(recorded: Blob): Promise<Blob> {
  const context = new OfflineAudioContext(1, 1, RATE)
  const decoded = await context.decodeAudioData(await recorded.arrayBuffer())
  const mixer = new OfflineAudioContext(1, Math.ceil(decoded.duration * RATE), RATE)
  const source = mixer.createBufferSource()
  source.buffer = decoded
  source.connect(mixer.destination)
  source.start()
  const mono = await mixer.startRendering()
  return encodeWav(mono.getChannelData(0))
}

function encodeWav(samples: Float32Array): Blob {
  const view = new DataView(new ArrayBuffer(HEADER_BYTES + samples.length * 2))
  const text = (at: number, word: string) => {
    for (let i = 0; i < word.length; i += 1) view.setUint8(at + i, word.charCodeAt(i))
  }
  text(0, 'RIFF')
  view.setUint32(4, view.byteLength - 8, true)
  text(8, 'WAVEfmt ')
  view.setUint32(16, 16, true)
  view.setUint16(20, 1, true)
  view.setUint16(22, 1, true)
  view.setUint32(24, RATE, true)
  view.setUint32(28, RATE * 2, true)
  view.setUint16(32, 2, true)
  view.setUint16(34, 16, true)
  text(36, 'data')
  view.setUint32(40, samples.length * 2, true)
  samples.forEach((sample, index) => {
    const value = Math.max(-1, Math.min(1, sample))
    view.setInt16(HEADER_BYTES + index * 2, value * 0x7fff, true)
  })
  return new Blob([view.buffer], { type: 'audio/wav' })
}
