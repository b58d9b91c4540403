import { Elysia } from 'elysia'
import { newId } from '../../core/crypto.ts'
import { AGENT_BODY_BYTES_MAX } from '../../core/limits/contract.ts'
import { EVERYONE } from '../../core/principal.ts'
import type { AgentEvent } from '../../features/agent/events.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gate } from '../../http/gate.ts'
import { openAiError } from '../../http/openai-answers.ts'
import { CompletionAnswer } from './answer-schemas.ts'
import { completionOf, createFrames, frameStream } from './completion-frames.ts'
import { completionRequest, turnOfCompletion } from './completion-request.ts'
import {
  CHAT_PARAMETERS,
  type ChatCall,
  type ChatRouteOptions,
  chatDoc,
  createChatEndpoint,
  type Send,
} from './endpoint.ts'
import { isWithoutKb, sessionOf } from './fields.ts'

const COMPLETION_DOC = chatDoc(
  'A chat.completion, or chat.completion.chunk events that end with [DONE]. The object ' +
    'moonbase beside them has kb_refs, provider_fallback, tool_results, stats and ' +
    'usage_estimated; in events tool_call and tool_result, too.',
  CompletionAnswer,
)

const STREAM = frameStream(openAiError)

/** POST /v1/chat/completions: one turn in the form of OpenAI's API. */
export const completionRoutes = (gate: Gate, options: ChatRouteOptions) => {
  const endpoint = createChatEndpoint(options)
  const { limits } = options
  const body = jsonBody(completionRequest(limits), { bytesMax: AGENT_BODY_BYTES_MAX })
  return new Elysia().use(gate).post(
    '/chat/completions',
    async ({ principal, request, upload, server, set }) => {
      const given = await body.read(request, upload)
      const input = isWithoutKb(request.headers) ? { ...given, kb: false } : given
      const { model } = input
      const sessionId = sessionOf({ field: 'session_id', given: input.session_id }, request.headers)
      const wanted = turnOfCompletion(input, sessionId !== null, limits)
      const field = 'messages'
      const call: ChatCall = { principal, request, server, set, model, wanted, field, sessionId }
      const opened = await endpoint.openTurn(call)
      const { turn } = opened
      const head = { id: `chatcmpl-${newId()}`, ...opened.head }
      if (!input.stream) {
        const events: AgentEvent[] = []
        const answer = await endpoint.whole(call, turn, (batch) => {
          events.push(...batch.filter(({ type }) => type !== 'llm_delta'))
        })
        return endpoint.send(call, answer.text.length, completionOf(head, answer, events))
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
      return endpoint.stream(call, turn, produce, STREAM)
    },
    {
      allow: EVERYONE,
      parse: 'none',
      detail: {
        summary: 'Chat completions, as of OpenAI',
        parameters: CHAT_PARAMETERS,
        requestBody: body.doc,
        responses: COMPLETION_DOC,
      },
    },
  )
}
