import type { z } from 'zod'
import type { Clock } from '../../core/clock.ts'
import type { Door } from '../../core/doors.ts'
import { AppError, appError } from '../../core/errors.ts'
import type { Principal } from '../../core/principal.ts'
import { namedSubject, SUBJECT_HEADER } from '../../core/subject.ts'
import { charCount } from '../../core/text.ts'
import type { AgentEvent, Emit } from '../../features/agent/events.ts'
import type { ModelAnswer } from '../../features/agent/model-loop.ts'
import type { Agent, OpenedTurn } from '../../features/agent/service.ts'
import type { Files } from '../../features/files/service.ts'
import type { UploadContext } from '../../http/body.ts'
import type { ResponseHeaders } from '../../http/entry.ts'
import type { JsonAnswer, JsonAnswers } from '../../http/json-answers.ts'
import type { RequestContexts } from '../../http/observe.ts'
import { answerDoc, EVENTS_CONTENT, headerDoc, jsonContent } from '../../http/openapi-parts.ts'
import type { Origins } from '../../http/origin.ts'
import { type Connections, withoutIdleTimeout } from '../../http/request-limits.ts'
import { clientOf, type Sse, type StreamFormat } from '../../http/sse.ts'
import type { Assistant, Assistants } from './assistants.ts'
import { beginTurn } from './begun.ts'
import { failureOf } from './failure.ts'
import type { ChatLimits } from './fields.ts'
import { type WantedTurn, withFiles } from './file-parts.ts'

export interface ChatRouteOptions {
  readonly agent: Agent
  readonly assistants: Assistants
  readonly sse: Sse
  readonly answers: JsonAnswers
  readonly contexts: RequestContexts
  readonly origins: Pick<Origins, 'base'>
  readonly clock: Pick<Clock, 'now' | 'after' | 'steady'>
  readonly limits: ChatLimits
  readonly files: Pick<Files, 'take'>
  readonly sources: { readonly fileBytesMax: () => number }
}

/** Header of an answer that is not streamed. */
const CHANNEL_HEADER = 'x-moonbase-channel'

/** A request that passed the gate. */
export interface Caller {
  readonly principal: Principal
  readonly request: Request
  readonly upload: UploadContext
  readonly server: Connections | null
  readonly set: ResponseHeaders
}

/** A parsed request and its sender. */
export interface ChatCall extends Omit<Caller, 'upload'> {
  readonly door: Door
  /** The name of the assistant, as the caller gave it. */
  readonly model: string
  /** Who answers, where the door has found it already. */
  readonly assistant?: Assistant
  readonly wanted: WantedTurn
  /** The field of the body that holds the conversation. */
  readonly field: string
  readonly sessionId: string | null
}

/** What doors whose callers bring their messages have in common after a request was parsed. */
export function createChatEndpoint(options: ChatRouteOptions) {
  const { agent, assistants, sse, answers, contexts, origins, clock } = options
  return {
    /** Throws `model_not_found`, and what opening a turn throws. */
    async openTurn({ principal, request, model, wanted, field, sessionId, ...call }: ChatCall) {
      const assistant = call.assistant ?? (await assistants.choose(principal, model))
      const actor = actorOf(principal, assistant)
      const subject = namedSubject(actor, wanted.subject, request.headers)
      const filed = await withFiles(actor, { ...wanted, subject }, options)
      const asked = { ...filed, door: call.door }
      const turn = await agent.openTurn(actor, asked, sessionId).catch((error: unknown) => {
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

    /**
     * Streams the turn. Answers when the model has begun to; what fails before that is thrown, so
     * that it has its status.
     */
    async answerBegun(
      { principal, request, server, set }: ChatCall,
      turn: OpenedTurn,
      telling: Telling,
      format: StreamFormat<string>,
    ): Promise<Response> {
      const client = clientOf(principal, request, server)
      const giveBack = sse.hold(client)
      try {
        const running = await beginTurn(turn, request.signal, clock)
        const produce = (signal: AbortSignal, emit: Send) =>
          told(telling, emit, (read) => running.follow(signal, read))
        const response = sse.respond(produce, format, set, client, giveBack)
        contexts.noteTurn(request, turn)
        return response
      } catch (error) {
        giveBack()
        contexts.note(request, { channel: turn.channel })
        throw error
      }
    },

    /** Runs the turn to its end, and answers with what `telling` makes of it. */
    async answerWhole(call: ChatCall, turn: OpenedTurn, telling: Telling) {
      const events: AgentEvent[] = []
      const answer = await this.whole(call, turn, (batch) => {
        telling.note?.(batch)
        // The text is in the answer, too.
        for (const event of batch) if (event.type !== 'llm_delta') events.push(event)
      })
      return this.send(call, answer.text.length, telling.whole(answer, events))
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

/** How one API tells of a turn, in frames that are text already or as a whole. */
export interface Telling {
  readonly opening: string
  /** The frames of events as they happen. */
  of(events: readonly AgentEvent[]): string[]
  /** The last frames of a successful turn. */
  ending(answer: ModelAnswer): string[]
  whole(answer: ModelAnswer, events: readonly AgentEvent[]): JsonAnswer
  /** Sees the events of a turn that is answered as a whole, as they happen. */
  note?(events: readonly AgentEvent[]): void
}

/** Sends all frames of a turn that `run` runs. */
export async function told(
  telling: Telling,
  emit: Send,
  run: (read: Emit) => Promise<ModelAnswer | null>,
): Promise<void> {
  if (telling.opening !== '') await emit([telling.opening])
  const answer = await run((events) => {
    const frames = telling.of(events)
    return frames.length > 0 ? emit(frames) : undefined
  })
  if (answer) await emit(telling.ending(answer))
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
  [SUBJECT_HEADER]: 'Whom the caller speaks for; the body goes before it',
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
  let failure: AppError | null = null
  const answer = await turn.run(signal, (events) => {
    for (const event of events) if (event.type === 'error') failure = failureOf(event)
    read(events)
    return undefined
  })
  if (answer) return answer
  if (failure) throw failure
  throw signal.reason instanceof AppError ? signal.reason : appError('client_closed')
}
