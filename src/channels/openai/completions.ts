import type { Clock } from '../../core/clock.ts'
import type { LlmRequest } from '../llm.ts'
import type { Call } from './call.ts'
import {
  type Endpoint,
  endpointHeaders,
  endpointHost,
  endpointUrl,
  type Fetch,
} from './endpoint.ts'
import { firstChatModel } from './models.ts'
import { type Refusal, refusalOf } from './refusal.ts'
import { chatBody } from './request.ts'
import { type ThinkingForm, thinkingFields } from './thinking.ts'

export interface CompletionsOptions extends Endpoint {
  readonly fetch: Fetch
  readonly clock: Clock
  /** Null: the first chat model that `GET {base}/models` lists. */
  readonly defaultModel: string | null
  readonly thinkingForm: ThinkingForm
}

type Fields = Readonly<Record<string, unknown>>

const REMEMBERED_MODELS_MAX = 100
const STREAM_HEADERS = {
  accept: 'text/event-stream',
  // A compressor on the way would hold tokens back.
  'accept-encoding': 'identity',
  'content-type': 'application/json',
}

/** Opens streamed answers: picks the model, sends the request and sorts refusals. */
export function createCompletions(options: CompletionsOptions) {
  const { clock } = options
  const host = endpointHost(options.baseUrl)
  let listedModel: string | null = null
  /** Optional fields that the upstream refused, by model. */
  const refusedFields = new Map<string, readonly string[]>()

  async function send(call: Call, path: string, init: RequestInit): Promise<Response> {
    const url = endpointUrl(options, path)
    const headers = { ...endpointHeaders(options), ...init.headers }
    call.waiting()
    try {
      return await options.fetch(url, {
        ...init,
        headers,
        redirect: 'manual',
        signal: call.signal,
      })
    } catch (error) {
      throw call.explain(error)
    }
  }

  /** Null when the upstream lists none: many local servers then answer with the loaded one. */
  async function modelOf(call: Call, request: LlmRequest): Promise<string | null> {
    const known = request.model ?? options.defaultModel ?? listedModel
    if (known !== null) return known
    const response = await send(call, '/models', { headers: { accept: 'application/json' } })
    if (response.ok) {
      listedModel =
        (await firstChatModel(response).catch((error) => {
          throw call.explain(error)
        })) ?? null
      return listedModel
    }
    const { failure } = await refused(call, response)
    if (failure.reason !== 'upstream_4xx') throw failure
    return null
  }

  async function refused(call: Call, response: Response): Promise<Refusal> {
    const refusal = await refusalOf(response, clock.now())
    call.throwIfAborted()
    return refusal
  }

  function remember(model: string, fields: readonly string[]): void {
    if (refusedFields.size >= REMEMBERED_MODELS_MAX) refusedFields.clear()
    refusedFields.set(model, fields)
  }

  return {
    /**
     * Resolves with a 2xx answer whose body is still to be read. A 400 or 422 that names an optional
     * field is asked again once without it: not every upstream knows every field, and none of them
     * changes what the person asked for. Throws `ChannelFailure`, or the caller's abort reason.
     */
    async open(call: Call, request: LlmRequest): Promise<Response> {
      const model = await modelOf(call, request)
      const key = model ?? ''
      const known = refusedFields.get(key) ?? []
      const optional = omit(known, {
        stream_options: { include_usage: true },
        ...thinkingFields(options.thinkingForm, request.thinking, host, key),
      })
      const body = { ...(model === null ? {} : { model }), ...chatBody(request) }
      const ask = (fields: Fields) =>
        send(call, '/chat/completions', {
          method: 'POST',
          headers: STREAM_HEADERS,
          body: JSON.stringify({ ...body, ...fields }),
        })

      const response = await ask(optional)
      if (response.ok) return response
      const { failure, text } = await refused(call, response)
      if (failure.status === 404) listedModel = null
      const named = Object.keys(optional).filter((field) => text.includes(field))
      if (named.length === 0) throw failure
      const again = await ask(omit(named, optional))
      if (!again.ok) throw (await refused(call, again)).failure
      remember(key, [...known, ...named])
      return again
    },
  }
}

function omit(names: readonly string[], fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))
}
