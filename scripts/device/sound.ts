import { createEspeakTts, findEspeak } from '../../src/channels/espeak/tts.ts'
import { systemClock } from '../../src/core/clock.ts'
import { DEFAULT_VOICE, SPEECH_RATE } from '../../src/upstream/ports/speech.ts'
import { codecs } from '../../test/support/speech-codecs.ts'

type Command = readonly [program: string, ...args: string[]]

const recorders = (seconds: number): readonly Command[] => [
  ['arecord', '-q', '-t', 'wav', '-f', 'S16_LE', '-r', '16000', '-c', '1', '-d', `${seconds}`],
  ['rec', '-q', '-r', '16000', '-c', '1', '-b', '16', '-t', 'wav', '-', 'trim', '0', `${seconds}`],
]
const MP3_PLAYERS: readonly Command[] = [
  ['mpg123', '-q', '-'],
  ['ffplay', '-nodisp', '-autoexit', '-loglevel', 'error', '-i', '-'],
  ['play', '-q', '-t', 'mp3', '-'],
]
const RAW = ['-t', 'raw', '-r', `${SPEECH_RATE}`, '-c', '1'] as const
const PCM_PLAYERS: readonly Command[] = [
  ['aplay', '-q', '-f', 'S16_LE', ...RAW],
  ['play', '-q', '-e', 'signed', '-b', '16', ...RAW, '-'],
]

const PLAYERS = { mp3: MP3_PLAYERS, pcm: PCM_PLAYERS } as const

/** The first of the programs that this machine has. */
const found = (commands: readonly Command[]) =>
  commands.find(([program]) => Bun.which(program) !== null) ?? null

const names = (commands: readonly Command[]) => commands.map(([program]) => program).join(', ')

/** Records from the microphone, as WAV. Throws without a recording program. */
export async function record(seconds: number): Promise<Uint8Array> {
  const command = found(recorders(seconds))
  if (command === null) throw new Error(`no recorder found (${names(recorders(seconds))})`)
  const child = Bun.spawn([...command], { stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' })
  const bytes = await new Response(child.stdout).bytes()
  if ((await child.exited) !== 0 || bytes.length === 0) throw new Error(`${command[0]} failed`)
  return bytes
}

/** Text spoken by eSpeak NG in Mandarin or English, as WAV. */
export async function pronounce(text: string): Promise<Uint8Array> {
  const which = (name: string) => Bun.which(name)
  const program = findEspeak({ folders: [], which, exists: () => false })
  if (program === null) throw new Error('espeak-ng is not installed; give a recording by --audio')
  const tts = createEspeakTts({ program, voice: 'male', clock: systemClock(), codecs })
  const { signal } = new AbortController()
  const { rate, chunks } = await tts.speak(
    { text, voice: DEFAULT_VOICE, tenantId: 'maker' },
    signal,
  )
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return asWav(rate, Buffer.concat(parts))
}

/** A WAV file of samples (signed 16-bit little-endian, mono). */
export function asWav(rate: number, pcm: Uint8Array): Uint8Array {
  const head = Buffer.alloc(44)
  head.write('RIFF')
  head.writeUInt32LE(36 + pcm.length, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(rate, 24)
  head.writeUInt32LE(rate * 2, 28)
  head.writeUInt16LE(2, 32)
  head.writeUInt16LE(16, 34)
  head.write('data', 36)
  head.writeUInt32LE(pcm.length, 40)
  return Buffer.concat([head, pcm])
}

export interface Player {
  write(bytes: Uint8Array): Promise<void>
  /** Resolves once the sound has played; throws when the program failed. */
  end(): Promise<void>
}

/** A program that plays its standard input; null without one. */
export function openPlayer(kind: keyof typeof PLAYERS): Player | null {
  const command = found(PLAYERS[kind])
  if (command === null) return null
  const child = Bun.spawn([...command], { stdin: 'pipe', stdout: 'ignore', stderr: 'inherit' })
  return {
    async write(bytes) {
      child.stdin.write(bytes)
      await child.stdin.flush()
    },
    async end() {
      await child.stdin.end()
      if ((await child.exited) !== 0) throw new Error(`${command[0]} could not play; use --out`)
    },
  }
}

export const playerNames = (kind: keyof typeof PLAYERS) => names(PLAYERS[kind])
