import type { Clock } from '../../core/clock.ts'
import { endpointHost } from '../net/endpoint.ts'
import { httpFailure } from '../net/http-failure.ts'
import type { UpstreamCall } from '../net/upstream-call.ts'
import type { LlmRequest, ThinkingForm } from '../ports/llm.ts'
import { createModelChoice } from './model-choice.ts'
import { chatBody } from './request.ts'
import { thinkingFields } from './thinking.ts'
import { createTransport, type TransportOptions } from './transport.ts'

export interface CompletionsOptions extends TransportOptions {
  readonly clock: Clock
  /** Null: the first chat model that `GET {base}/models` lists. */
  readonly defaultModel: string | null
  readonly thinkingForm: ThinkingForm
}

type Fields = Readonly<Record<string, unknown>>

const REMEMBERED_MODELS_MAX = 100

/** Opens streamed answers: picks the model, sends the request and sorts HTTP errors. */
export function createCompletions(options: CompletionsOptions) {
  const { clock, thinkingForm } = options
  const host = endpointHost(options.baseUrl)
  const transport = createTransport(options)
  const models = createModelChoice(transport, clock, options.defaultModel)
  /** Optional fields that the upstream refused, by model. */
  const refusedFields = new Map<string, readonly string[]>()

  function remember(model: string, fields: readonly string[]): void {
    if (refusedFields.size >= REMEMBERED_MODELS_MAX) refusedFields.clear()
    refusedFields.set(model, fields)
  }

  return {
    /**
     * Resolves with a 2xx answer whose body is still to be read. A 400 or 422 that names an
     * optional field is asked again once without it: not every upstream knows every field, and none
     * of them changes what the person asked for. Throws `ChannelFailure`, or the caller's abort
     * reason.
     */
    async open(call: UpstreamCall, request: LlmRequest): Promise<Response> {
      const model = await models.choose(call, request.model)
      const key = model ?? ''
      const known = refusedFields.get(key) ?? []
      const optional = omit(known, {
        stream_options: { include_usage: true },
        ...thinkingFields(thinkingForm, request.thinking, host, key),
      })
      const body = { ...(model === null ? {} : { model }), ...chatBody(request) }
      const ask = (fields: Fields) =>
        transport.complete(call, { ...body, ...fields }, 'text/event-stream')

      const response = await ask(optional)
      if (response.ok) return response
      const { failure, text } = await httpFailure(response, clock.now())
      call.throwIfAborted()
      if (failure.status === 404) {
        models.forget()
        throw failure
      }
      const named = Object.keys(optional).filter((field) => text.includes(field))
      if (named.length === 0) throw failure

      const again = await ask(omit(named, optional))
      if (!again.ok) {
        const second = await httpFailure(again, clock.now())
        call.throwIfAborted()
        throw second.failure
      }
      remember(key, [...known, ...named])
      return again
    },
  }
}

function omit(names: readonly string[], fields: Fields): Fields {
  if (names.length === 0) return fields
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))
}
