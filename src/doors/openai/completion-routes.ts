import { newId } from '../../core/crypto.ts'
import { AGENT_BODY_BYTES_MAX } from '../../core/limits/contract.ts'
import { EVERYONE } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import { openAiError } from '../../http/openai-answers.ts'
import {
  CHAT_PARAMETERS,
  type ChatCall,
  type ChatRouteOptions,
  chatDoc,
  createChatEndpoint,
  type Send,
  told,
} from '../shared/endpoint.ts'
import { isWithoutKb, sessionOf } from '../shared/fields.ts'
import { CompletionAnswer } from './answer-schemas.ts'
import { createFrames, frameStream } from './completion-frames.ts'
import { completionRequest, turnOfCompletion } from './completion-request.ts'

const COMPLETION_DOC = chatDoc(
  'A chat.completion, or chat.completion.chunk events that end with [DONE]. The object ' +
    'moonbase beside them has kb_refs, provider_fallback, tool_results, stats and ' +
    'usage_estimated; in events tool_call and tool_result, too.',
  CompletionAnswer,
)

const STREAM = frameStream(openAiError)

/** POST /v1/chat/completions: one turn in the form of OpenAI's API. */
export const completionRoutes = (on: Gated, options: ChatRouteOptions) => {
  const endpoint = createChatEndpoint(options)
  const { limits } = options
  const body = jsonBody(completionRequest(limits), { bytesMax: AGENT_BODY_BYTES_MAX })
  return on.post(
    '/chat/completions',
    async ({ principal, request, upload, server, set }) => {
      const given = await body.read(request, upload)
      const input = isWithoutKb(request.headers) ? { ...given, kb: false } : given
      const { model } = input
      const sessionId = sessionOf({ field: 'session_id', given: input.session_id }, request.headers)
      const wanted = turnOfCompletion(input, sessionId !== null, limits)
      const field = 'messages'
      const from = { door: 'chat', principal, request, server, set } as const
      const call: ChatCall = { ...from, model, wanted, field, sessionId }
      const opened = await endpoint.openTurn(call)
      const { turn } = opened
      const head = { id: `chatcmpl-${newId()}`, ...opened.head }
      const frames = createFrames(head, input.stream_options?.include_usage === true, openAiError)
      if (!input.stream) return endpoint.answerWhole(call, turn, frames)
      const produce = (signal: AbortSignal, emit: Send) =>
        told(frames, emit, (read) => turn.run(signal, read))
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
