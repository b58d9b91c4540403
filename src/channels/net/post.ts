import type { Clock } from '../../core/clock.ts'
import { ChannelFailure } from '../ports/failure.ts'
import { Call } from './deadlines.ts'
import type { Answer } from './endpoint.ts'
import { type Refusal, refusalOf } from './http-error.ts'
import { createSender, type SenderOptions } from './sender.ts'

export interface HttpCallOptions extends SenderOptions {
  readonly clock: Clock
  /** Longest wait for the answer to begin, and for each part of it afterwards, in milliseconds. */
  readonly timeoutMs: number
}

export interface HttpAnswer {
  readonly contentType: string
  /** To be read once. Throws `ChannelFailure`; throws the signal's reason when aborted. */
  readonly body: AsyncGenerator<Uint8Array>
  /** Ends the request; needed when the body is not read to its end. */
  close(): void
}

/**
 * Posts to a speech upstream. Resolves with a refusal for every status but 2xx, and for a host that
 * cannot be reached; throws the caller's abort reason.
 */
export function createHttpCall(options: HttpCallOptions) {
  const { clock, timeoutMs } = options
  const send = createSender(options)

  return async (
    path: string,
    init: RequestInit,
    caller: AbortSignal,
  ): Promise<HttpAnswer | Refusal> => {
    const call = new Call(clock, timeoutMs, caller)
    try {
      const response = await send(call, path, { method: 'POST', ...init })
      if (response.ok) return answerOf(response, call)
      const refusal = await refusalOf(response, clock.now())
      call.throwIfAborted()
      call.close()
      return refusal
    } catch (error) {
      call.close()
      if (error instanceof ChannelFailure) return { failure: hasty(error, call), text: '' }
      throw error
    }
  }
}

/** A person waits for the sound: who was silent for so long is not asked again. */
const hasty = (failure: ChannelFailure, call: Call): ChannelFailure =>
  call.isSilent ? new ChannelFailure(failure.reason, failure.phrase) : failure

function answerOf(response: Answer, call: Call): HttpAnswer {
  call.arrived()
  return {
    contentType: response.headers.get('content-type') ?? '',
    body: read(response, call),
    close: () => call.close(),
  }
}

async function* read(response: Answer, call: Call): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader()
  let complete = reader === undefined
  try {
    while (reader !== undefined) {
      call.waiting()
      const { done, value } = await reader.read()
      complete = done
      if (done) return
      call.arrived()
      yield value
    }
  } catch (error) {
    throw call.explain(error)
  } finally {
    call.close(complete)
  }
}

/** The whole body as text; throws `ChannelFailure` beyond `bytesMax`. */
export async function readText(answer: HttpAnswer, bytesMax: number): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const chunk of answer.body) {
    size += chunk.length
    if (size > bytesMax) throw new ChannelFailure('provider_error', 'answer too large')
    parts.push(chunk)
  }
  return new TextDecoder().decode(Buffer.concat(parts))
}
