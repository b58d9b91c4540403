import { z } from 'zod'
import { newId } from '../../core/crypto.ts'
import type { AppError } from '../../core/errors.ts'
import { AGENT_BODY_BYTES_MAX } from '../../core/limits/contract.ts'
import { EVERYONE } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import { jsonDoc } from '../../http/openapi-parts.ts'
import {
  CHAT_PARAMETERS,
  type ChatCall,
  type ChatRouteOptions,
  chatDoc,
  createChatEndpoint,
} from '../shared/endpoint.ts'
import { isWithoutKb, sessionOf } from '../shared/fields.ts'
import { MessageFrames } from './events.ts'
import type { ClaudeModels } from './models.ts'
import type { ReadPdfs } from './pdfs.ts'
import { CountRequest, MessageRequest } from './request.ts'
import { checkedParts, inTheirWords, readRequest, turnOfMessages } from './turn.ts'

export interface MessageRouteOptions extends ChatRouteOptions {
  readonly claudeModels: ClaudeModels
  readonly readPdfs: ReadPdfs
}

const Message = z.looseObject({
  id: z.string(),
  type: z.literal('message'),
  role: z.literal('assistant'),
  model: z.string(),
  content: z.array(z.looseObject({ type: z.enum(['text', 'thinking', 'tool_use']) })),
  stop_reason: z.enum(['end_turn', 'max_tokens', 'tool_use', 'refusal']),
  usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int() }),
})

const DOC = chatDoc('A message, or its events from message_start to message_stop.', Message)
const Count = z.object({ input_tokens: z.int() })
const limit = { bytesMax: AGENT_BODY_BYTES_MAX }

/** POST /v1/messages: one turn in the form of Anthropic's API. */
export const messageRoutes = (on: Gated, options: MessageRouteOptions) => {
  const door = createChatEndpoint(options)
  const { claudeModels, readPdfs, contexts } = options
  const body = jsonBody(MessageRequest, limit)
  countRoutes(on, options)
  on.post(
    '/messages',
    async ({ principal, request, upload, server, set }) => {
      let tokens = 0
      const explained = <Result>(work: Promise<Result>): Promise<Result> =>
        work.catch((error: unknown) => Promise.reject(inTheirWords(error, tokens)))
      const answer = async () => {
        const input = await body.read(request, upload)
        const sessionId = sessionOf({ field: 'session_id', given: undefined }, request.headers)
        const assistant = await claudeModels.choose(principal, input.model)
        const pdfs = await readPdfs(input.messages, principal.tenantId, request.signal)
        const read = readRequest(input, pdfs)
        tokens = read.tokens
        const wanted = turnOfMessages(input, read, {
          hasSession: sessionId !== null,
          kb: !isWithoutKb(request.headers),
          isTenant: assistant.appId === null,
        })
        const { model } = input
        const from = { door: 'messages', principal, request, server, set } as const
        const call: ChatCall = { ...from, wanted, sessionId, assistant, model, field: 'messages' }
        const { turn, head } = await door.openTurn(call)
        const requestId = contexts.of(request)?.requestId ?? ''
        const frames = new MessageFrames({
          id: `msg_${newId()}`,
          model: head.model,
          inputTokens: tokens,
          explain: (error) => inTheirWords(error, tokens) as AppError,
          requestId,
        })
        if (!input.stream) return door.answerWhole(call, turn, frames)
        return door.answerBegun(call, turn, frames, frames.format)
      }
      return explained(answer())
    },
    {
      allow: EVERYONE,
      parse: 'none',
      detail: {
        summary: 'Messages, as of Anthropic',
        parameters: CHAT_PARAMETERS,
        requestBody: body.doc,
        responses: DOC,
      },
    },
  )
}

/** POST /v1/messages/count_tokens: an estimate, without a model. */
const countRoutes = (on: Gated, { claudeModels, readPdfs }: MessageRouteOptions) => {
  const body = jsonBody(CountRequest, limit)
  return on.post(
    '/messages/count_tokens',
    async ({ principal, request, upload }) => {
      const input = await body.read(request, upload)
      await claudeModels.choose(principal, input.model)
      const pdfs = await readPdfs(input.messages, principal.tenantId, request.signal)
      const read = readRequest(input, pdfs)
      try {
        checkedParts(input, read, false)
      } catch (error) {
        throw inTheirWords(error, read.tokens)
      }
      return { input_tokens: read.tokens }
    },
    {
      allow: EVERYONE,
      parse: 'none',
      detail: {
        summary: 'Tokens of a message, estimated',
        requestBody: body.doc,
        responses: jsonDoc(Count),
      },
    },
  )
}
