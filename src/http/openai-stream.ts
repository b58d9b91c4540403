import { AppError, internalError } from '../core/errors.ts'
import { pulledStream } from '../core/large-bytes.ts'
import { openAiError } from './openai-errors.ts'

/** Written as JSON; has its own `type`, for there are no `event:` lines. */
export type OpenAiFrame = Readonly<Record<string, unknown>>

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
} as const

const frame = (data: string): Uint8Array => Buffer.from(`data: ${data}\n\n`)

async function* framesOf(events: AsyncIterable<OpenAiFrame>): AsyncGenerator<Uint8Array> {
  try {
    for await (const event of events) yield frame(JSON.stringify(event))
    yield frame('[DONE]')
  } catch (error) {
    const said = error instanceof AppError ? error : internalError(error)
    yield frame(JSON.stringify(openAiError(said)))
  }
}

/**
 * Events as they come, and `[DONE]`. A failure is the last frame in its place, because the status
 * has been sent (contract 2, 1.12). `onLeave` is called when the client leaves before the end.
 */
export const openAiStream = (events: AsyncIterable<OpenAiFrame>, onLeave: () => void): Response =>
  new Response(pulledStream(framesOf(events), onLeave), { headers: HEADERS })
