import { Elysia } from 'elysia'
import { z } from 'zod'
import type { Clock } from '../../core/clock.ts'
import { newId } from '../../core/crypto.ts'
import { AGENT_BODY_BYTES_MAX } from '../../core/limits/contract.ts'
import { EVERYONE, type Principal } from '../../core/principal.ts'
import { charCount } from '../../core/text.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gate } from '../../http/gate.ts'
import type { RequestContexts } from '../../http/observe.ts'
import { openAiError } from '../../http/openai-errors.ts'
import type { Origins } from '../../http/origin.ts'
import { withoutIdleTimeout } from '../../http/request-limits.ts'
import { clientOf, type Sse } from '../../http/sse.ts'
import type { Agent } from '../agent/service.ts'
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
      async ({ principal, params }) => modelOf(await assistants.find(principal, params.id)),
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
  readonly contexts: RequestContexts
  readonly origins: Pick<Origins, 'of'>
  readonly clock: Pick<Clock, 'now'>
}

const COMPLETION_DOC = {
  200: {
    description:
      'A chat.completion, or chat.completion.chunk events that end with [DONE]. The object ' +
      'moonbase beside them has kb_refs, provider_fallback, tool_results, stats and ' +
      'usage_estimated; in events tool_call and tool_result, too.',
    content: {
      'application/json': { schema: { type: 'object' as const } },
      'text/event-stream': { schema: { type: 'string' as const } },
    },
  },
}

const STREAM = frameStream(openAiError)
const body = jsonBody(CompletionRequest, { bytesMax: AGENT_BODY_BYTES_MAX })

/** POST /v1/chat/completions: one turn in the form of OpenAI's API (contract 2, section 1). */
const completionRoutes = (gate: Gate, options: ChatRouteOptions) => {
  const { agent, assistants, sse, contexts, origins, clock } = options
  return new Elysia().use(gate).post(
    '/chat/completions',
    async ({ principal, request, upload, server, set }) => {
      const input = await body.read(request, upload)
      const sessionId = sessionOf(input.session_id, request.headers)
      const wanted = turnOfCompletion(input, sessionId !== null)
      const assistant = await assistants.choose(principal, input.model)
      const actor = actorOf(principal, assistant)
      const turn = await agent.openTurn(actor, wanted, sessionId)
      const textChars = charCount(wanted.text)
      contexts.note(request, { principal: actor, sessionId, textChars, channel: turn.channel })
      const head = {
        id: `chatcmpl-${newId()}`,
        created: Math.floor(clock.now() / 1000),
        model: assistant.name,
        origin: origins.of(request) ?? '',
      }
      const client = clientOf(principal, request, server)
      const channel = () => ({ channel: turn.channel })
      if (input.stream) {
        const frames = createFrames(head, input.stream_options?.include_usage === true, openAiError)
        const response = sse.respond(
          async (signal, emit) => {
            await emit([frames.opening])
            const answer = await turn.run(signal, (events) => {
              const text = frames.of(events)
              return text.length > 0 ? emit(text) : undefined
            })
            if (answer) await emit(frames.ending(answer))
          },
          STREAM,
          set,
          client,
        )
        contexts.noteLater(request, turn.begun.then(channel))
        return response
      }
      const { answer, events } = await withoutIdleTimeout(request, server, () =>
        sse.whole(client, (signal) => drain(turn, signal)),
      ).finally(() => contexts.note(request, channel()))
      set.headers['x-moonbase-channel'] = answer.channel.label
      return completionOf(head, answer, events)
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

/** A general key acts as the app that it names: in the log, the session index and the usage. */
const actorOf = (principal: Principal, { appId }: Assistant): Principal =>
  principal.kind === 'general' ? { ...principal, appId } : principal

/** What clients of OpenAI's API call to talk to an assistant (contract 2, section 1). */
export const chatRoutes = (gate: Gate, options: ChatRouteOptions) =>
  new Elysia().use(modelRoutes(gate, options.assistants)).use(completionRoutes(gate, options))
