import { setTimeout as sleep } from 'node:timers/promises'
import type { Exchange } from './upstream-exchange.ts'
import { sendJson } from './upstream-fault.ts'

export interface SpeechAnswer {
  /** Samples a second. */
  readonly rate?: number
  /** Length of the sound in milliseconds; short by default to keep tests fast. */
  readonly ms?: number
  /** Bytes of one write; the default splits samples between writes. */
  readonly chunkBytes?: number
  /** Default: the requested format, `wav` or `pcm`. */
  readonly format?: 'pcm' | 'wav'
  readonly contentType?: string
  /** Resets the connection after this many writes. */
  readonly cutAfter?: number
  /** Awaited before the reset, which drops what nobody has read yet; else a moment. */
  readonly cutWhen?: Promise<unknown>
  /** Falls silent after this many writes. */
  readonly hangAfter?: number
}

/** A tone, as raw PCM (signed 16-bit little-endian mono) or as a WAV file. */
export async function sendSpeech(exchange: Exchange, answer: SpeechAnswer): Promise<void> {
  const { request, response } = exchange
  const rate = answer.rate ?? 24_000
  const format = answer.format ?? (request.body.response_format === 'wav' ? 'wav' : 'pcm')
  const pcm = tone(rate, answer.ms ?? 200)
  const bytes = format === 'wav' ? Buffer.concat([wavHeader(rate, pcm.length), pcm]) : pcm
  const step = answer.chunkBytes ?? 1001
  response.writeHead(200, {
    'content-type': answer.contentType ?? (format === 'wav' ? 'audio/wav' : 'audio/pcm'),
  })
  response.flushHeaders()
  for (let at = 0, writes = 0; at < bytes.length && !exchange.left(); at += step, writes++) {
    if (writes === answer.hangAfter) return
    if (writes === answer.cutAfter) {
      exchange.brokenOff = true
      await (answer.cutWhen ?? sleep(20))
      response.socket?.resetAndDestroy()
      return
    }
    response.write(bytes.subarray(at, at + step))
    await sleep(0)
  }
  response.end()
}

export interface Transcript {
  readonly text: string
  /** What else `verbose_json` has, such as `segments`; without it the text is all there is. */
  readonly verbose?: object
  /** Awaited before the answer. */
  readonly hold?: Promise<unknown>
}

export async function sendTranscript(exchange: Exchange, answer: Transcript): Promise<void> {
  const { text, hold, verbose } = answer
  const { form } = exchange.request
  await hold
  const file = form?.get('file')
  if (!(file instanceof Blob) || file.size === 0) {
    sendJson(exchange, 400, { error: { message: 'SECRET: file is missing' } })
  } else if (form?.get('response_format') === 'text') {
    exchange.response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' })
    exchange.response.end(text)
  } else {
    const isVerbose = form?.get('response_format') === 'verbose_json'
    sendJson(exchange, 200, { text, ...(isVerbose && verbose) })
  }
}

function tone(rate: number, ms: number): Buffer {
  const samples = Math.round((rate * ms) / 1000)
  const bytes = Buffer.alloc(samples * 2)
  for (let at = 0; at < samples; at++) {
    bytes.writeInt16LE(Math.round(8000 * Math.sin((2 * Math.PI * 440 * at) / rate)), at * 2)
  }
  return bytes
}

/** RIFF header of 44 bytes for 16-bit mono PCM. */
function wavHeader(rate: number, dataBytes: number): Buffer {
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + dataBytes, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(rate, 24)
  header.writeUInt32LE(rate * 2, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(dataBytes, 40)
  return header
}
