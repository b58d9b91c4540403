// A simulated xiaozhi board: starts, is paired, talks; and many of them at once.
import { createHash } from 'node:crypto'
import { createInterface } from 'node:readline'
import { createFloatResampler } from '../../src/audio/resample.ts'
import { type Board, type BoardSocket, createBoard, openSocket } from './board.ts'
import { pronounce } from './sound.ts'

export interface XiaozhiOptions {
  readonly origin: string
  readonly code: string | undefined
  readonly mac: string
  readonly version: number
  readonly frameMs: number
  /** Whether silence is sent as packets of two bytes, as by the firmware. */
  readonly dtx: boolean
  /** A question to speak. */
  readonly text: string | undefined
  /** A question to type. */
  readonly typed: string | undefined
  /** Interrupts the answer this long after its first sound. */
  readonly abortMs: number | undefined
  readonly say: (line: string) => void
}

const WAV_HEADER_BYTES = 44
const SPOKEN_RATE_AT = 24
const RATE = 16_000
const POLL_MS = 3_000
/** Silence after each sentence, by which the server detects its end. */
const SILENCE_MS = 1_000
/** Length of a packet of the answer. */
const PACKET_MS = 60

/** The board of a MAC address; it has the same name at each start. */
function boardOf(origin: string, mac: string): Board {
  const hex = createHash('sha256').update(mac).digest('hex')
  const clientId = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5')
  return createBoard(origin, { mac, clientId })
}

/** Words as 16 kHz samples, with the silence that ends an utterance. */
async function samplesOf(text: string): Promise<Int16Array> {
  const wav = Buffer.from(await pronounce(text))
  const pcm = new Int16Array(new Uint8Array(wav.subarray(WAV_HEADER_BYTES)).buffer)
  const resampler = createFloatResampler(wav.readUInt32LE(SPOKEN_RATE_AT), RATE)
  const floats = resampler.push(Float32Array.from(pcm, (one) => one / 32_768))
  const samples = new Int16Array(floats.length + (SILENCE_MS * RATE) / 1_000)
  for (const [i, one] of floats.entries()) samples[i] = Math.max(-1, Math.min(1, one)) * 32_767
  return samples
}

async function startUntilPaired(board: Board, options: XiaozhiOptions) {
  for (let shown = ''; ; ) {
    const { websocket, activation } = await board.start(options.code ?? null)
    if (!activation) return websocket
    if (activation.message !== shown) options.say(activation.message)
    if (activation.code === '') throw new Error(activation.message)
    shown = activation.message
    await Bun.sleep(POLL_MS)
  }
}

/** Asks by voice in real time; resolves with the time of the last word. */
async function speak(socket: BoardSocket, text: string): Promise<number> {
  const samples = await samplesOf(text)
  socket.send({ type: 'listen', state: 'start', mode: 'auto' })
  await socket.speak(samples, (ms) => Bun.sleep(ms))
  return performance.now() - SILENCE_MS
}

/** Asks by text, as a client with a keyboard does. */
function type(socket: BoardSocket, text: string): number {
  socket.send({ type: 'listen', state: 'detect', text })
  return performance.now()
}

/** Runs one turn and prints the answer and its times. `/type TEXT` asks by text. */
async function converse(socket: BoardSocket, line: string, { say, abortMs }: XiaozhiOptions) {
  const [, written] = /^\/type\s+(.+)$/.exec(line) ?? []
  const started = socket.heard.length
  const sounded = socket.sound.length
  const ending = socket.next('tts', 'stop')
  const askedAt = written === undefined ? await speak(socket, line) : type(socket, written)
  if (abortMs !== undefined) {
    await Promise.race([ending, socket.sounds(sounded)])
    await Promise.race([ending, Bun.sleep(abortMs)])
    socket.send({ type: 'abort', reason: 'wake_word_detected' })
  }
  await ending
  for (const { type, state, text, message } of socket.heard.slice(started)) {
    const told = text ?? message
    if (told !== undefined) say(`${state ?? type}: ${told}`)
  }
  const first = socket.sound[sounded]
  if (!first) return say('No sound.')
  say(`First sound ${Math.round(first.at - askedAt)} ms after the last word.`)
  const seconds = ((socket.sound.length - sounded) * PACKET_MS) / 1_000
  say(`${seconds.toFixed(2)} s of speech${abortMs === undefined ? '' : ' before it was aborted'}.`)
}

/** Pairs, connects, and asks the given question, or each typed line. */
export async function runXiaozhi(options: XiaozhiOptions): Promise<void> {
  const { origin, mac, version, frameMs, dtx, text, typed, say } = options
  const websocket = await startUntilPaired(boardOf(origin, mac), options)
  const socket = await openSocket(websocket, { version, frameMs, dtx })
  await socket.next('hello')
  say(`Connected to ${websocket.url}`)
  const asked = [text, typed && `/type ${typed}`].filter((line) => line !== undefined)
  for (const line of asked) await converse(socket, line, options)
  if (asked.length === 0) {
    for await (const line of createInterface({ input: process.stdin })) {
      await converse(socket, line, options)
    }
  }
  await socket.close()
}
