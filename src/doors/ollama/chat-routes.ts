import type { z } from 'zod'
import { AGENT_BODY_BYTES_MAX } from '../../core/limits/contract.ts'
import { EVERYONE } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import {
  type Caller,
  type ChatCall,
  type ChatRouteOptions,
  createChatEndpoint,
} from '../shared/endpoint.ts'
import { isWithoutKb, sessionOf } from '../shared/fields.ts'
import { AnswerLines } from './lines.ts'
import { listedName, type OllamaModels } from './models.ts'
import {
  type Asked,
  askedByChat,
  askedByPrompt,
  ChatRequest,
  GenerateRequest,
  isUnload,
  turnOf,
} from './request.ts'

/** The time of each line; pieces of a text come many in a millisecond. */
function isoTimes(now: () => number): () => string {
  let at = 0
  let iso = ''
  return () => {
    const ms = now()
    if (ms !== at) iso = new Date(ms).toISOString()
    at = ms
    return iso
  }
}

const limit = { bytesMax: AGENT_BODY_BYTES_MAX }
const CONFIG = { allow: EVERYONE, parse: 'none', detail: { hide: true } } as const

/** One turn, by messages or by a prompt. */
export const chatRoutes = (on: Gated, options: ChatRouteOptions, models: OllamaModels) => {
  const door = createChatEndpoint(options)
  const { clock } = options

  async function answer({ principal, request, server, set }: Caller, asked: Asked) {
    const assistant = await models.choose(principal, asked.model)
    const head = {
      model: listedName(assistant),
      isChat: asked.isChat,
      iso: isoTimes(clock.now),
      steady: clock.steady,
    }
    const sessionId = sessionOf({ field: 'session_id', given: undefined }, request.headers)
    if (asked.said.length === 0) return AnswerLines.loaded(head, isUnload(asked))
    const wanted = turnOf(asked, sessionId !== null, !isWithoutKb(request.headers))
    const from = { door: 'ollama', principal, request, server, set } as const
    const field = asked.isChat ? 'messages' : 'prompt'
    const call: ChatCall = { ...from, wanted, sessionId, assistant, model: asked.model, field }
    const { turn } = await door.openTurn(call)
    const lines = new AnswerLines(head)
    if (!asked.stream) return door.answerWhole(call, turn, lines)
    return door.answerBegun(call, turn, lines, lines.format)
  }

  const route = <Schema extends z.ZodType>(
    schema: Schema,
    askedBy: (input: z.output<Schema>) => Asked,
  ) => {
    const body = jsonBody(schema, limit)
    return async (caller: Caller) =>
      answer(caller, askedBy(await body.read(caller.request, caller.upload)))
  }

  return on
    .post('/api/chat', route(ChatRequest, askedByChat), CONFIG)
    .post('/api/generate', route(GenerateRequest, askedByPrompt), CONFIG)
}
