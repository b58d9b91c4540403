import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../core/clock.ts'
import { SPEECH_PROGRAMS_PER_CORE } from '../../core/limits/machine.ts'
import { TTS_ENCODED_BYTES_MAX, TTS_SILENCE_MS_MAX } from '../../core/limits/upstream.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import { ChannelFailure } from '../../upstream/ports/failure.ts'
import {
  type AudioCodecs,
  DEFAULT_VOICE,
  type PcmStream,
  type Tts,
} from '../../upstream/ports/speech.ts'
import type { Language, Segment } from './text-segments.ts'

export interface EspeakTtsOptions {
  readonly program: EspeakProgram
  /** `female` or `male`, used when a request names no voice; empty for female. */
  readonly voice: string
  readonly clock: Clock
  readonly codecs: Pick<AudioCodecs, 'readSpeech'>
}

/** The only voices passed to the program, which speaks nonsense for an unknown one. */
const VOICES: Readonly<Record<Language, string>> = {
  mandarin: 'cmn-latn-pinyin',
  english: 'en-us',
}
const FEMALE = '+f3'
const TEXT_CHARS_MAX = 1_000
const RATE = 22_050
/** The program's default pace; it speaks 80 words a minute at least. */
const WORDS_A_MINUTE = 175

/**
 * Offline speech by the program eSpeak NG: robotic, without a model, in Mandarin and English. A few
 * programs run at a time; tenants take turns. The output is collected whole, so a slow listener
 * does not occupy a slot.
 */
export function createEspeakTts(options: EspeakTtsOptions): Tts {
  const { clock, codecs } = options
  const programs = createSemaphore({ slots: availableParallelism() * SPEECH_PROGRAMS_PER_CORE })
  return {
    name: 'espeak',
    textCharsMax: TEXT_CHARS_MAX,
    async speak({ text, voice, speed = 1, tenantId }, signal) {
      const wanted = voice === DEFAULT_VOICE && options.voice !== '' ? options.voice : voice
      const variant = /^male\b/i.test(wanted) ? '' : FEMALE
      const say = async (segment: Segment) => {
        const command = commandOf(options.program, VOICES[segment.language] + variant, speed)
        const work = () => run(command, segment.text, clock, signal)
        const body = replay(await programs.run(tenantId, work, signal))
        const speech = { body, contentType: 'audio/wav', fallbackRate: RATE, tenantId }
        return codecs.readSpeech(speech, signal)
      }
      // Loaded with the first speech: its character table takes longer than the rest of the server.
      const { segments } = await import('./text-segments.ts')
      const [first, ...rest] = segments(text)
      // Text without a sound, such as emoji, becomes a moment of silence.
      if (first === undefined) return { rate: RATE, chunks: silence() }
      return joined(await say(first), rest, say)
    },
  }
}

async function* silence() {
  yield new Uint8Array(RATE / 5)
}

/** Concatenates the segments to one sound. */
function joined(
  first: PcmStream,
  rest: readonly Segment[],
  say: (segment: Segment) => Promise<PcmStream>,
): PcmStream {
  async function* chunks() {
    yield* first.chunks
    for (const segment of rest) {
      const next = await say(segment)
      if (next.rate !== first.rate) throw new ChannelFailure('provider_error', 'changed its rate')
      yield* next.chunks
    }
  }
  return { rate: first.rate, chunks: chunks() }
}

interface Command {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** The text goes by standard input, so that no part of it is read as an option. */
function commandOf({ path, pack }: EspeakProgram, voice: string, speed: number): Command {
  const pace = speed === 1 ? [] : ['-s', String(Math.round(WORDS_A_MINUTE * speed))]
  const argv = [path, '--stdin', '--stdout', '-b', '1', '-v', voice, ...pace]
  if (pack === null) return { argv, env: {} }
  return { argv: [...argv, `--path=${pack}`], env: { LD_LIBRARY_PATH: join(pack, 'lib') } }
}

async function* replay(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}

/** Runs the program and returns its output. */
async function run(
  { argv, env }: Command,
  text: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<readonly Uint8Array[]> {
  signal.throwIfAborted()
  const child = start(argv, env, text)
  const kill = () => child.kill('SIGKILL')
  signal.addEventListener('abort', kill, { once: true })
  const reader = child.stdout.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for (;;) {
      const cancel = clock.after(TTS_SILENCE_MS_MAX, kill)
      const { done, value } = await reader.read()
      cancel()
      if (done) break
      chunks.push(value)
      size += value.length
      if (size > TTS_ENCODED_BYTES_MAX) throw new ChannelFailure('provider_error', 'too much audio')
    }
    const code = await child.exited
    signal.throwIfAborted()
    if (code !== 0) throw new ChannelFailure('provider_error', 'program failed')
    return chunks
  } finally {
    signal.removeEventListener('abort', kill)
    kill()
    await child.exited
  }
}

function start(argv: readonly string[], env: Command['env'], text: string) {
  try {
    return Bun.spawn([...argv], {
      env,
      stdin: new Blob([text]),
      stdout: 'pipe',
      stderr: 'ignore',
    })
  } catch (cause) {
    throw new ChannelFailure('channel_unavailable', 'program not found', { cause })
  }
}

export interface EspeakProgram {
  readonly path: string
  /** Folder of the pack with program and data; null for an installed program. */
  readonly pack: string | null
}

export interface EspeakPlaces {
  /** Folders that may contain `packs/espeak`: the data folder, the folder of the executable. */
  readonly folders: readonly string[]
  readonly which: (name: string) => string | null
  readonly exists: (path: string) => boolean
}

const NAMES = ['espeak-ng', 'espeak-ng.exe', 'bin/espeak-ng']

/**
 * Looks for eSpeak NG in a pack beside the data or the executable, then on PATH. It is under the
 * GPL and therefore a separate program, not a part of the executable.
 */
export function findEspeak({ folders, which, exists }: EspeakPlaces): EspeakProgram | null {
  for (const folder of folders) {
    const pack = join(folder, 'packs', 'espeak')
    const path = NAMES.map((name) => join(pack, name)).find(exists)
    if (path !== undefined) return { path, pack }
  }
  const path = which('espeak-ng')
  return path === null ? null : { path, pack: null }
}
