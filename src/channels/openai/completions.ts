import type { Clock } from '../../core/clock.ts'
import { jsonPieces, SMALL_BYTES, streamOf, totalBytes } from '../../core/large-bytes.ts'
import { httpFailure } from '../../upstream/net/http-failure.ts'
import {
  createSender,
  endpointHost,
  type SenderOptions,
  type SendingCall,
  type UpstreamCall,
} from '../../upstream/net/upstream-call.ts'
import { ChannelFailure } from '../../upstream/ports/failure.ts'
import type { CallMeter, LlmRequest, ThinkingForm } from '../../upstream/ports/llm.ts'
import { firstChatModel } from './models.ts'
import { chatBody, optionalFields, textUnits, thinkingFields } from './request.ts'

export interface CompletionsOptions extends SenderOptions {
  readonly clock: Clock
  /** Null: the first chat model that `GET {base}/models` lists. */
  readonly defaultModel: string | null
  readonly thinkingForm: ThinkingForm
}

type Fields = Readonly<Record<string, unknown>>

const REMEMBERED_MODELS_MAX = 100

interface Opened {
  readonly response: Response
  /** The model that was asked for; null when the upstream chose. */
  readonly model: string | null
}

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
     * Resolves with a 2xx answer whose body is not read yet, and the model that was asked. After
     * a 400 or 422 that names an optional field the request is made once more without it: not
     * every upstream knows every field, and the answer is as useful without. Throws
     * `ChannelFailure`, or the caller's abort reason.
     */
    async open(call: UpstreamCall, request: LlmRequest): Promise<Opened> {
      const model = await models.choose(call, request.model)
      const key = model ?? ''
      const known = refusedFields.get(key) ?? []
      const ours = omit(known, {
        stream_options: { include_usage: true },
        ...thinkingFields(thinkingForm, request.thinking, host, key),
      })
      const optional = { ...ours, ...optionalFields(request, host) }
      const body = { ...(model === null ? {} : { model }), ...chatBody(request, host) }
      const isLarge = textUnits(request) > SMALL_BYTES
      const ask = (fields: Fields) =>
        metered(call, request.meter, () =>
          transport.complete(call, { ...body, ...fields }, 'text/event-stream', isLarge),
        )

      const response = await ask(optional)
      if (response.ok) return { response, model }
      const { failure, text } = await httpFailure(response, clock.now(), options.apiKey)
      call.throwIfAborted()
      if (failure.status === 404) {
        models.forget()
        throw failure
      }
      const named = Object.keys(optional).filter((field) => isNamed(field, text))
      if (named.length === 0 || failure.contextExceeded) throw failure

      const again = await ask(omit(named, optional))
      if (!again.ok) {
        const second = await httpFailure(again, clock.now(), options.apiKey)
        call.throwIfAborted()
        throw second.failure
      }
      // Only fields of our own are remembered: otherwise a caller's value may be at fault.
      const toRemember = named.filter((field) => field in ours)
      if (toRemember.length > 0) remember(key, [...known, ...toRemember])
      return { response: again, model }
    },
  }
}

/** Upstreams name either field of the length of an answer. */
const isNamed = (field: string, text: string): boolean =>
  TOKENS_FIELD.test(field) ? TOKENS_FIELD.test(text) : text.includes(field)

const TOKENS_FIELD = /max_(?:completion_)?tokens/

/** Tells the meter that the request leaves, and whether it was refused. */
async function metered(
  call: Pick<UpstreamCall, 'timedOut'>,
  meter: CallMeter | undefined,
  ask: () => Promise<Response>,
): Promise<Response> {
  meter?.sent()
  try {
    const response = await ask()
    if (!response.ok) meter?.refused()
    return response
  } catch (error) {
    // A caller that left and an upstream that stayed silent do not say that nothing was read.
    if (error instanceof ChannelFailure && !call.timedOut) meter?.refused()
    throw error
  }
}

function omit(names: readonly string[], fields: Fields): Fields {
  if (names.length === 0) return fields
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))
}

/** Chooses the model of a request that names none: the default, or the first one listed. */
function createModelChoice(transport: Transport, clock: Clock, defaultModel: string | null) {
  let listed: string | null = null

  return {
    /**
     * Null when the upstream lists no model: many local servers then answer with the loaded one.
     * Throws `ChannelFailure` when the upstream cannot be reached, or the caller's abort reason.
     */
    async choose(call: UpstreamCall, named: string | null): Promise<string | null> {
      const known = named ?? defaultModel ?? listed
      if (known !== null) return known
      const response = await transport.list(call)
      if (!response.ok) {
        const { failure } = await httpFailure(response, clock.now())
        call.throwIfAborted()
        if (failure.reason === 'upstream_4xx') return null
        throw failure
      }
      try {
        listed = await firstChatModel(response)
      } catch (error) {
        throw call.explain(error)
      }
      return listed
    },

    /** Called when the upstream no longer knows the model: the next request lists models again. */
    forget(): void {
      listed = null
    },
  }
}

type Transport = ReturnType<typeof createTransport>

/** The two requests of chat. They throw `ChannelFailure`, or the caller's abort reason. */
export function createTransport(options: SenderOptions) {
  const send = createSender(options)
  return {
    list: (call: SendingCall) => send(call, '/models', { headers: { accept: 'application/json' } }),
    async complete(
      call: SendingCall,
      body: object,
      accept: 'text/event-stream' | 'application/json',
      isLarge = false,
    ): Promise<Response> {
      const content: Content = isLarge ? await largeContent(body) : { body: JSON.stringify(body) }
      const headers = { accept, 'content-type': 'application/json', ...content.headers }
      return send(call, '/chat/completions', { method: 'POST', headers, body: content.body })
    },
  }
}

interface Content {
  readonly body: string | ReadableStream
  readonly headers?: Readonly<Record<string, string>>
}

/** Written in pieces, because 40 MB of images in one hold the event loop for 120 ms. */
async function largeContent(body: object): Promise<Content> {
  const pieces = await jsonPieces(body)
  // The length is sent because some servers do not accept chunked requests.
  const headers = { 'content-length': String(totalBytes(pieces)) }
  return { body: streamOf(pieces), headers }
}
