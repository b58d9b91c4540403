import { z } from 'zod'
import { parseUntrustedJson } from '../../core/json.ts'

const Hello = z.object({
  type: z.literal('hello'),
  version: z.unknown().optional(),
  features: z.object({ mcp: z.unknown() }).partial().nullish().catch(null),
})
export type Hello = z.infer<typeof Hello>

const Listen = z.object({
  type: z.literal('listen'),
  state: z.enum(['start', 'stop', 'detect']),
  mode: z.enum(['auto', 'manual', 'realtime']).catch('auto'),
  text: z.string().catch(''),
})
export type ListenMode = z.infer<typeof Listen>['mode']

const BoardMessage = z.discriminatedUnion('type', [
  Hello,
  Listen,
  z.object({ type: z.literal('abort') }),
  z.object({ type: z.literal('mcp'), payload: z.unknown() }),
])

/** A text message of a board. */
export type BoardMessage = z.infer<typeof BoardMessage>

/** Null for all other messages. */
export function readMessage(text: string): BoardMessage | null {
  try {
    return BoardMessage.safeParse(parseUntrustedJson(text)).data ?? null
  } catch {
    return null
  }
}

const VERSIONS: Readonly<Record<string, FrameVersion>> = { 1: 1, 2: 2, 3: 3 }

/** The version of frames: the hello's, else that of the header `Protocol-Version`, else 1. */
export const frameVersion = (hello: Hello, header: string | null): FrameVersion =>
  VERSIONS[String(hello.version)] ?? VERSIONS[header ?? ''] ?? 1

/** Boards get speech as 24 kHz mono in packets of 60 ms. */
export const FRAME_MS = 60

export const helloAnswer = {
  type: 'hello',
  version: 1,
  transport: 'websocket',
  audio_params: { format: 'opus', sample_rate: 24_000, channels: 1, frame_duration: FRAME_MS },
} as const

/** A text message to a board; `session_id` is added when it is sent. */
export type ServerMessage =
  | typeof helloAnswer
  | { readonly type: 'stt'; readonly text: string }
  | { readonly type: 'tts'; readonly state: 'start' | 'stop' }
  | { readonly type: 'tts'; readonly state: 'sentence_start'; readonly text: string }
  | {
      readonly type: 'alert'
      readonly status: string
      readonly message: string
      readonly emotion: string
    }
  | { readonly type: 'mcp'; readonly payload: object }

/** How sound is framed on the socket; the board chooses. All big-endian. */
export type FrameVersion = 1 | 2 | 3

export interface Frame {
  readonly type: 'opus' | 'json'
  readonly payload: Uint8Array
}

/** u16 version, u16 type, u32 reserved, u32 timestamp in ms, u32 size. */
const HEADER_2 = 16
/** u8 type, u8 reserved, u16 size. */
const HEADER_3 = 4
const TYPES = ['opus', 'json'] as const

/** Null for bytes that are no frame of this version. */
export function readFrame(version: FrameVersion, bytes: Uint8Array): Frame | null {
  if (version === 1) return { type: 'opus', payload: bytes }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const header = version === 2 ? HEADER_2 : HEADER_3
  if (bytes.length < header) return null
  const type = TYPES[version === 2 ? view.getUint16(2) : view.getUint8(0)]
  const size = version === 2 ? view.getUint32(12) : view.getUint16(2)
  if (type === undefined || size > bytes.length - header) return null
  return { type, payload: bytes.subarray(header, header + size) }
}

/** A packet of Opus as a frame; `timestamp` is the milliseconds since the speech began. */
export function writeFrame(version: FrameVersion, packet: Uint8Array, timestamp: number): Buffer {
  if (version === 1) return Buffer.from(packet)
  const header = Buffer.alloc(version === 2 ? HEADER_2 : HEADER_3)
  if (version === 2) {
    header.writeUInt16BE(2, 0)
    header.writeUInt32BE(timestamp >>> 0, 8)
    header.writeUInt32BE(packet.length, 12)
  } else header.writeUInt16BE(packet.length, 2)
  return Buffer.concat([header, packet])
}
