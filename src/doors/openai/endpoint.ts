import type { z } from 'zod'
import type { Clock } from '../../core/clock.ts'
import { AppError, appError, type ErrorCode } from '../../core/errors.ts'
import type { Principal } from '../../core/principal.ts'
import { charCount } from '../../core/text.ts'
import type { AgentEvent } from '../../features/agent/events.ts'
import type { ModelAnswer } from '../../features/agent/model-loop.ts'
import type { Agent, OpenedTurn } from '../../features/agent/service.ts'
import type { TurnRequest } from '../../features/agent/turn-config.ts'
import type { ResponseHeaders } from '../../http/entry.ts'
import type { JsonAnswer, JsonAnswers } from '../../http/json-answers.ts'
import type { RequestContexts } from '../../http/observe.ts'
import { answerDoc, EVENTS_CONTENT, headerDoc, jsonContent } from '../../http/openapi-parts.ts'
import type { Origins } from '../../http/origin.ts'
import { type Connections, withoutIdleTimeout } from '../../http/request-limits.ts'
import { clientOf, type Sse, type StreamFormat } from '../../http/sse.ts'
import type { Assistant, Assistants } from './assistants.ts'
import type { ChatLimits } from './fields.ts'
import type { KeptItems } from './kept-items.ts'

export interface ChatRouteOptions {
  readonly agent: Agent
  readonly assistants: Assistants
  readonly sse: Sse
  readonly answers: JsonAnswers
  readonly contexts: RequestContexts
  readonly origins: Pick<Origins, 'base'>
  readonly clock: Pick<Clock, 'now'>
  readonly limits: ChatLimits
  readonly keptItems: KeptItems
}

/** Header of an answer that is not streamed. */
const CHANNEL_HEADER = 'x-moonbase-channel'

/** A parsed request and its sender. */
export interface ChatCall {
  readonly principal: Principal
  readonly request: Request
  readonly server: Connections | null
  readonly set: ResponseHeaders
  /** The name of the assistant, as the caller gave it. */
  readonly model: string
  readonly wanted: TurnRequest
  /** The field of the body that holds the conversation. */
  readonly field: string
  readonly sessionId: string | null
}

/** What chat completions and responses have in common after a request was parsed. */
export function createChatEndpoint(options: ChatRouteOptions) {
  const { agent, assistants, sse, answers, contexts, origins, clock } = options
  return {
    /** Throws `model_not_found`, and what opening a turn throws. */
    async openTurn({ principal, request, model, wanted, field, sessionId }: ChatCall) {
      const assistant = await assistants.choose(principal, model)
      const actor = actorOf(principal, assistant)
      const turn = await agent.openTurn(actor, wanted, sessionId).catch((error: unknown) => {
        throw placed(error, field)
      })
      const textChars = charCount(wanted.text)
      contexts.note(request, { principal: actor, sessionId, textChars, channel: turn.channel })
      const created = Math.floor(clock.now() / 1000)
      const site = origins.base(request)
      return { turn, head: { created, model: assistant.name, site, sessionId } }
    },

    /** Streams what `produce` makes of the turn. */
    stream(
      { principal, request, server, set }: ChatCall,
      turn: OpenedTurn,
      produce: (signal: AbortSignal, emit: Send) => Promise<void>,
      format: StreamFormat<string>,
    ): Response {
      const client = clientOf(principal, request, server)
      const response = sse.respond(produce, format, set, client)
      contexts.noteTurn(request, turn)
      return response
    },

    /** Sends a long answer as fast as its client reads, and counts its memory until then. */
    send(call: ChatCall, chars: number, answer: JsonAnswer): JsonAnswer | Promise<Response> {
      if (chars <= LONG_ANSWER_CHARS) return answer
      return answers.respond(call, async () => answer, ANSWER_CHAR_BYTES * chars)
    },

    /** Runs the turn to its end; `read` gets its events. */
    async whole(
      { principal, request, server, set }: ChatCall,
      turn: OpenedTurn,
      read: (events: readonly AgentEvent[]) => void,
    ): Promise<ModelAnswer> {
      const client = clientOf(principal, request, server)
      try {
        const answer = await withoutIdleTimeout(request, server, () =>
          sse.whole(client, (signal) => drain(turn, signal, read)),
        )
        set.headers[CHANNEL_HEADER] = answer.channel.label
        return answer
      } finally {
        contexts.note(request, { channel: turn.channel })
      }
    },
  }
}

/** A shorter answer is sent in one piece. */
const LONG_ANSWER_CHARS = 64 * 1024
/** Bytes for each character of an answer: its text, and the JSON of it. */
const ANSWER_CHAR_BYTES = 4

/** Adds the conversation's field to a refusal of the turn, such as an invalid image. */
function placed(error: unknown, param: string): unknown {
  const isOurs = error instanceof AppError && error.status === 400 && !error.details.param
  return isOurs ? new AppError(error.code, error.params, { ...error.details, param }) : error
}

/** Sends frames. When it returns a promise, the client reads more slowly: await it. */
export type Send = (frames: readonly string[]) => Promise<void> | undefined

/** A general key acts as the app that it names: in the log, the session index and the usage. */
const actorOf = (principal: Principal, { appId }: Assistant): Principal =>
  principal.kind === 'general' ? { ...principal, appId } : principal

/** Documents a route that answers with one JSON object or with a stream of events. */
export const chatDoc = (description: string, whole: z.ZodType) =>
  answerDoc(
    description,
    { ...jsonContent(whole), ...EVENTS_CONTENT },
    {
      'X-Moonbase-Channel': {
        description: 'Which model answered; not where it streams',
        schema: { type: 'string', enum: ['byo', 'platform', 'platform_fallback'] },
      },
    },
  )

export const CHAT_PARAMETERS = headerDoc({
  'X-Moonbase-Kb': 'false: the knowledge base is not searched, as `kb` in the body',
  'X-Moonbase-Session':
    'The session that remembers the conversation, percent-encoded; the body goes before it',
})

/**
 * Runs a turn whose answer is sent as a whole; `read` gets its events. Throws the error of its
 * `error` event.
 */
async function drain(
  turn: OpenedTurn,
  signal: AbortSignal,
  read: (events: readonly AgentEvent[]) => void,
): Promise<ModelAnswer> {
  let failure: ErrorCode | null = null
  const answer = await turn.run(signal, (events) => {
    for (const event of events) if (event.type === 'error') failure = event.code
    read(events)
    return undefined
  })
  if (answer) return answer
  if (failure) throw failureOf(failure)
  throw signal.reason instanceof AppError ? signal.reason : appError('client_closed')
}

/** Tells clients not to retry: a model was called, and they would pay twice. */
function failureOf(code: ErrorCode): AppError {
  const error = new AppError(code, {})
  if (error.status !== 500) return error
  return new AppError(code, {}, { headers: { 'x-should-retry': 'false' } })
}
