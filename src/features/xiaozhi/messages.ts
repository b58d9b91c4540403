import { z } from 'zod'
import { parseUntrustedJson } from '../../core/json.ts'
import type { FrameVersion } from './frames.ts'

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

const Message = z.discriminatedUnion('type', [
  Hello,
  Listen,
  z.object({ type: z.literal('abort') }),
  z.object({ type: z.literal('mcp'), payload: z.unknown() }),
])

/** What a board says in text (contract 2, 4.1). */
export type Message = z.infer<typeof Message>

/** Null for whatever is none of the messages that mean something here. */
export function readMessage(text: string): Message | null {
  try {
    return Message.safeParse(parseUntrustedJson(text)).data ?? null
  } catch {
    return null
  }
}

const VERSIONS: Readonly<Record<string, FrameVersion>> = { 1: 1, 2: 2, 3: 3 }

/** The version of frames: the hello's, else that of the header `Protocol-Version`, else 1. */
export const frameVersion = (hello: Hello, header: string | null): FrameVersion =>
  VERSIONS[String(hello.version)] ?? VERSIONS[header ?? ''] ?? 1

/** Speech to boards: 24 kHz mono in packets of 60 ms. */
export const FRAME_MS = 60

export const helloAnswer = {
  type: 'hello',
  transport: 'websocket',
  audio_params: { format: 'opus', sample_rate: 24_000, channels: 1, frame_duration: FRAME_MS },
} as const

/** What a board is told in text; `session_id` is added on the way. */
export type Told =
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
