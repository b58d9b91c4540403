import { SPEECH_RATE } from '../../src/channels/ports/audio.ts'
import { flac } from '../../test/support/flac.ts'
import { mp3, opus, pcm16, vorbis, wav } from '../../test/support/recordings.ts'
import { codecs } from '../../test/support/speech-codecs.ts'
import type { Row } from './report.ts'
import { alternate } from './rounds.ts'
import { sweep } from './stub-voice.ts'

/** Long enough that starting a program or a thread does not count for much. */
const SECONDS = 60
const CHUNK_BYTES = 3_840
const HEARING_RATE = 16_000
/** Far from what a voice needs; below it a turn would begin to feel the arithmetic. */
const TIMES_REAL_TIME_MIN = 20

interface Job {
  readonly measure: string
  readonly ours: () => Promise<void>
  /** What ffmpeg is told, to do the same from standard input to standard output. */
  readonly theirs: readonly string[]
  readonly input: Uint8Array
}

const floats = (rate: number) => Float32Array.from(sweep(rate, SECONDS), (v) => v / 32_768)
const raw = (rate: number) => ['-f', 's16le', '-ar', `${rate}`, '-ac', '1']

function* chunks(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES)
}

function encoding(): Job {
  const input = pcm16(floats(SPEECH_RATE))
  return {
    measure: 'mp3 of 32 kHz, 128 kbps',
    input,
    theirs: [...raw(SPEECH_RATE), '-i', '-', '-b:a', '128k', '-f', 'mp3', '-'],
    async ours() {
      const encoder = await codecs.mp3Encoder()
      for (const chunk of chunks(input)) encoder.encode(chunk)
      encoder.finish()
      encoder.release()
    },
  }
}

function resampling(rate: number): Job {
  const input = pcm16(floats(rate))
  return {
    measure: `resample ${rate / 1_000} to 32 kHz`,
    input,
    theirs: [...raw(rate), '-i', '-', '-ar', `${SPEECH_RATE}`, '-f', 's16le', '-'],
    async ours() {
      const resampler = codecs.resampler(rate, SPEECH_RATE)
      for (const chunk of chunks(input)) resampler.push(chunk)
      resampler.flush()
    },
  }
}

const decoding = (name: string, input: Uint8Array): Job => ({
  measure: `decode ${name} to 16 kHz`,
  input,
  theirs: ['-i', '-', ...raw(HEARING_RATE), '-'],
  async ours() {
    let bytes = 0
    const { signal } = new AbortController()
    for await (const part of codecs.decode(input, HEARING_RATE, signal)) bytes += part.length
    const least = SECONDS * HEARING_RATE * 2 * 0.99
    if (bytes < least) throw new Error(`${name} gave ${bytes} bytes`)
  },
})

async function makeJobs(): Promise<Job[]> {
  const [at16, at48] = [floats(HEARING_RATE), floats(48_000)]
  return [
    encoding(),
    ...[22_050, 24_000, 44_100].map(resampling),
    decoding('wav', wav(48_000, at48)),
    decoding('mp3', await mp3(HEARING_RATE, at16)),
    decoding('flac', flac(at48)),
    decoding('vorbis', await vorbis(HEARING_RATE, at16)),
    decoding('opus', await opus('ogg', at48)),
  ]
}

/** Seconds of sound a second. */
async function speed(work: () => Promise<void>): Promise<number> {
  const begin = performance.now()
  await work()
  return SECONDS / ((performance.now() - begin) / 1_000)
}

async function runFfmpeg({ theirs, input, measure }: Job): Promise<void> {
  const child = Bun.spawn(['ffmpeg', '-v', 'error', '-nostdin', ...theirs], {
    stdin: input,
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const { length } = await new Response(child.stdout).bytes()
  if ((await child.exited) !== 0 || length === 0) throw new Error(`ffmpeg: ${measure}`)
}

/** Codecs as a multiple of real time, beside ffmpeg where it is installed. */
export async function measureCodecs(rounds: number): Promise<Row[]> {
  const rows: Row[] = []
  const ffmpeg = Bun.which('ffmpeg') !== null
  for (const job of await makeJobs()) {
    await job.ours()
    const results = await alternate<'ours' | 'theirs', number>(rounds, {
      ours: () => speed(job.ours),
      theirs: async () => (ffmpeg ? speed(() => runFfmpeg(job)) : Number.NaN),
    })
    rows.push({
      measure: job.measure,
      unit: 'x real time',
      product: results.ours,
      reference: { name: ffmpeg ? 'ffmpeg' : '', values: results.theirs },
      target: { atLeast: TIMES_REAL_TIME_MIN },
      absolute: true,
    })
  }
  return rows
}
