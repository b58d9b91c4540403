import { Elysia } from 'elysia'
import { z } from 'zod'
import type { Clock } from '../../core/clock.ts'
import { newId } from '../../core/crypto.ts'
import { AGENT_BODY_BYTES_MAX } from '../../core/limits/contract.ts'
import { EVERYONE, type Principal } from '../../core/principal.ts'
import { charCount } from '../../core/text.ts'
import { jsonBody } from '../../http/body.ts'
import type { ResponseHeaders } from '../../http/entry.ts'
import type { Gate } from '../../http/gate.ts'
import type { JsonAnswer, JsonAnswers } from '../../http/json-answers.ts'
import type { RequestContexts } from '../../http/observe.ts'
import { openAiError } from '../../http/openai-errors.ts'
import type { Origins } from '../../http/origin.ts'
import { type Connections, withoutIdleTimeout } from '../../http/request-limits.ts'
import { clientOf, type Sse, type StreamFormat } from '../../http/sse.ts'
import type { AgentEvent } from '../agent/events.ts'
import type { ModelAnswer } from '../agent/model-loop.ts'
import type { Agent, OpenedTurn } from '../agent/service.ts'
import type { TurnRequest } from '../agent/turn.ts'
import { drain } from './answer.ts'
import type { Assistant, Assistants } from './assistants.ts'
import { completionOf, createFrames, frameStream } from './completion-frames.ts'
import { CompletionRequest, turnOfCompletion } from './completion-request.ts'
import { sessionOf } from './session-choice.ts'

const Model = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: z.int(),
  owned_by: z.literal('moonbase'),
  moonbase: z.object({ app_id: z.string() }).optional(),
})

const modelOf = ({ name, appId, created }: Assistant): z.infer<typeof Model> => ({
  id: name,
  object: 'model',
  created,
  owned_by: 'moonbase',
  ...(appId === null ? {} : { moonbase: { app_id: appId } }),
})

/** The assistants of a credential in the form of OpenAI's models (contract 2, 1.6). */
const modelRoutes = (gate: Gate, assistants: Assistants) =>
  new Elysia()
    .use(gate)
    .get(
      '/models',
      async ({ principal }) => {
        const data = (await assistants.list(principal)).map(modelOf)
        return { object: 'list' as const, data }
      },
      {
        allow: EVERYONE,
        response: z.object({ object: z.literal('list'), data: z.array(Model) }),
        detail: { summary: 'The assistants, as models' },
      },
    )
    .get(
      '/models/:id',
      // Null where the path is not percent-encoded UTF-8.
      async ({ principal, params: { id } }) =>
        modelOf(await assistants.find(principal, (id as string | null) ?? '')),
      {
        allow: EVERYONE,
        response: Model,
        detail: { summary: 'One assistant by its name or the id of its app' },
      },
    )

export interface ChatRouteOptions {
  readonly agent: Agent
  readonly assistants: Assistants
  readonly sse: Sse
  readonly answers: JsonAnswers
  readonly contexts: RequestContexts
  readonly origins: Pick<Origins, 'of'>
  readonly clock: Pick<Clock, 'now'>
}

/** The answer has it that is not streamed (contract 2, D9). */
const CHANNEL_HEADER = 'x-moonbase-channel'

/** A request that was read, and who sent it. */
export interface Asked {
  readonly principal: Principal
  readonly request: Request
  readonly server: Connections | null
  readonly set: ResponseHeaders
  /** The name of the assistant, as the caller gave it. */
  readonly model: string
  readonly wanted: TurnRequest
  readonly sessionId: string | null
}

/** What both forms of the API do with a request that was read. */
export function openDoor(options: ChatRouteOptions) {
  const { agent, assistants, sse, answers, contexts, origins, clock } = options
  return {
    /** Throws `model_not_found`, and what opening a turn throws. */
    async openTurn({ principal, request, model, wanted, sessionId }: Asked) {
      const assistant = await assistants.choose(principal, model)
      const actor = actorOf(principal, assistant)
      const turn = await agent.openTurn(actor, wanted, sessionId)
      const textChars = charCount(wanted.text)
      contexts.note(request, { principal: actor, sessionId, textChars, channel: turn.channel })
      const created = Math.floor(clock.now() / 1000)
      const origin = origins.of(request) ?? ''
      return { turn, head: { created, model: assistant.name, origin, sessionId } }
    },

    /** Streams what `produce` makes of the turn. */
    stream(
      { principal, request, server, set }: Asked,
      turn: OpenedTurn,
      produce: (signal: AbortSignal, emit: Send) => Promise<void>,
      format: StreamFormat<string>,
    ): Response {
      const client = clientOf(principal, request, server)
      const response = sse.respond(produce, format, set, client)
      const channel = () => ({ channel: turn.channel })
      contexts.noteLater(request, turn.begun.then(channel))
      return response
    },

    /** A long answer is sent as fast as its client reads, and counted until it is. */
    send(asked: Asked, chars: number, answer: JsonAnswer): JsonAnswer | Promise<Response> {
      if (chars <= LONG_ANSWER_CHARS) return answer
      return answers.respond(asked, async () => answer, ANSWER_CHAR_BYTES * chars)
    },

    /** Runs the turn to its end; `read` gets its events. */
    async whole(
      { principal, request, server, set }: Asked,
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

/** A shorter answer goes to the socket in one piece. */
const LONG_ANSWER_CHARS = 64 * 1024
/** The text, and the JSON that holds it. */
const ANSWER_CHAR_BYTES = 4

/** Sends frames; a promise means that the client reads more slowly than they come. */
type Send = (frames: readonly string[]) => Promise<void> | undefined

/** A general key acts as the app that it names: in the log, the session index and the usage. */
const actorOf = (principal: Principal, { appId }: Assistant): Principal =>
  principal.kind === 'general' ? { ...principal, appId } : principal

/** A JSON object, or the events of a stream. */
export const ANSWER_CONTENT = {
  'application/json': { schema: { type: 'object' as const } },
  'text/event-stream': { schema: { type: 'string' as const } },
}

const COMPLETION_DOC = {
  200: {
    description:
      'A chat.completion, or chat.completion.chunk events that end with [DONE]. The object ' +
      'moonbase beside them has kb_refs, provider_fallback, tool_results, stats and ' +
      'usage_estimated; in events tool_call and tool_result, too.',
    content: ANSWER_CONTENT,
  },
}

const STREAM = frameStream(openAiError)
const body = jsonBody(CompletionRequest, { bytesMax: AGENT_BODY_BYTES_MAX })

/** POST /v1/chat/completions: one turn in the form of OpenAI's API (contract 2, section 1). */
const completionRoutes = (gate: Gate, options: ChatRouteOptions) => {
  const door = openDoor(options)
  return new Elysia().use(gate).post(
    '/chat/completions',
    async ({ principal, request, upload, server, set }) => {
      const input = await body.read(request, upload)
      const { model } = input
      const sessionId = sessionOf({ field: 'session_id', given: input.session_id }, request.headers)
      const wanted = turnOfCompletion(input, sessionId !== null)
      const asked: Asked = { principal, request, server, set, model, wanted, sessionId }
      const opened = await door.openTurn(asked)
      const { turn } = opened
      const head = { id: `chatcmpl-${newId()}`, ...opened.head }
      if (!input.stream) {
        const events: AgentEvent[] = []
        const answer = await door.whole(asked, turn, (batch) => {
          events.push(...batch.filter(({ type }) => type !== 'llm_delta'))
        })
        return door.send(asked, answer.text.length, completionOf(head, answer, events))
      }
      const frames = createFrames(head, input.stream_options?.include_usage === true, openAiError)
      const produce = async (signal: AbortSignal, emit: Send) => {
        await emit([frames.opening])
        const answer = await turn.run(signal, (events) => {
          const texts = frames.of(events)
          return texts.length > 0 ? emit(texts) : undefined
        })
        if (answer) await emit(frames.ending(answer))
      }
      return door.stream(asked, turn, produce, STREAM)
    },
    {
      allow: EVERYONE,
      parse: 'none',
      detail: {
        summary: 'Chat completions, as of OpenAI',
        requestBody: body.doc,
        responses: COMPLETION_DOC,
      },
    },
  )
}

/** What clients of OpenAI's API call to talk to an assistant (contract 2, section 1). */
export const chatRoutes = (gate: Gate, options: ChatRouteOptions) =>
  new Elysia().use(modelRoutes(gate, options.assistants)).use(completionRoutes(gate, options))
