import type { Clock } from '../../core/clock.ts'
import { ChannelFailure } from '../ports/failure.ts'
import { type HttpFailure, httpFailure } from './http-failure.ts'
import { createSender, type SenderOptions, UpstreamCall } from './upstream-call.ts'

export interface PostOptions extends SenderOptions {
  readonly clock: Clock
  /** Longest wait for the answer to begin, and for each part of it afterwards, in milliseconds. */
  readonly timeoutMs: number
}

export interface PostAnswer {
  readonly contentType: string
  /** To be read once. Throws `ChannelFailure`; throws the signal's reason when aborted. */
  readonly body: AsyncGenerator<Uint8Array>
  /** Ends the request; needed when the body is not read to its end. */
  close(): void
}

/**
 * Posts to a speech upstream. Resolves with an `HttpFailure` for every status but 2xx, and for a
 * host that cannot be reached; throws the caller's abort reason.
 */
export function createPost(options: PostOptions) {
  const { clock, timeoutMs } = options
  const send = createSender(options)

  return async (
    path: string,
    init: RequestInit,
    caller: AbortSignal,
  ): Promise<PostAnswer | HttpFailure> => {
    const call = new UpstreamCall(clock, timeoutMs, caller)
    try {
      const response = await send(call, path, { method: 'POST', ...init })
      if (response.ok) return answerOf(response, call)
      const failed = await httpFailure(response, clock.now())
      call.throwIfAborted()
      call.close()
      return failed
    } catch (error) {
      call.close()
      if (error instanceof ChannelFailure) return { failure: finalIfSilent(error, call), text: '' }
      throw error
    }
  }
}

/** Makes a timeout final: a person waits for the sound, so a silent upstream is not asked again. */
const finalIfSilent = (failure: ChannelFailure, call: UpstreamCall): ChannelFailure =>
  call.timedOut ? new ChannelFailure(failure.reason, failure.phrase) : failure

function answerOf(response: Response, call: UpstreamCall): PostAnswer {
  call.gotBytes()
  return {
    contentType: response.headers.get('content-type') ?? '',
    body: read(response, call),
    close: () => call.close(),
  }
}

async function* read(response: Response, call: UpstreamCall): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader()
  let complete = reader === undefined
  try {
    while (reader !== undefined) {
      call.startWait()
      const { done, value } = await reader.read()
      complete = done
      if (done) return
      call.gotBytes()
      yield value
    }
  } catch (error) {
    throw call.explain(error)
  } finally {
    call.close(complete)
  }
}

/** The whole body as text; throws `ChannelFailure` beyond `bytesMax`. */
export async function readText(answer: PostAnswer, bytesMax: number): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const chunk of answer.body) {
    size += chunk.length
    if (size > bytesMax) throw new ChannelFailure('provider_error', 'answer too large')
    parts.push(chunk)
  }
  return new TextDecoder().decode(Buffer.concat(parts))
}
