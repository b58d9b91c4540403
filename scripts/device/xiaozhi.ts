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
  readonly text: string | undefined
  readonly say: (line: string) => void
}

const WAV_HEADER_BYTES = 44
const SPOKEN_RATE_AT = 24
const RATE = 16_000
const POLL_MS = 3_000

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
  const samples = new Int16Array(floats.length + RATE)
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

/** Speaks a sentence at its own pace, and tells what came back and how soon. */
async function converse(socket: BoardSocket, text: string, say: XiaozhiOptions['say']) {
  const samples = await samplesOf(text)
  const before = socket.sound.length
  socket.send({ type: 'listen', state: 'start', mode: 'auto' })
  await socket.speak(samples, (ms) => Bun.sleep(ms))
  const spokenAt = performance.now() - 1_000
  const started = socket.heard.length
  await socket.next('tts', 'stop')
  for (const { type, state, text: told } of socket.heard.slice(started)) {
    if (told !== undefined) say(`${state ?? type}: ${told}`)
  }
  const first = socket.sound[before]
  if (first) say(`First sound ${Math.round(first.at - spokenAt)} ms after the last word.`)
}

/** Pairs, connects, and says one text or each typed line. */
export async function runXiaozhi(options: XiaozhiOptions): Promise<void> {
  const { origin, mac, version, frameMs, text, say } = options
  const websocket = await startUntilPaired(boardOf(origin, mac), options)
  const socket = await openSocket(websocket, { version, frameMs })
  await socket.next('hello')
  say(`Connected to ${websocket.url}`)
  if (text !== undefined) await converse(socket, text, say)
  else {
    for await (const line of createInterface({ input: process.stdin })) {
      await converse(socket, line, say)
    }
  }
  await socket.close()
}
