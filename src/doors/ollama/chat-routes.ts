import { Elysia } from 'elysia'
import type { z } from 'zod'
import { AGENT_BODY_BYTES_MAX } from '../../core/limits/contract.ts'
import { EVERYONE, type Principal } from '../../core/principal.ts'
import type { AgentEvent } from '../../features/agent/events.ts'
import { jsonBody, type UploadContext } from '../../http/body.ts'
import type { ResponseHeaders } from '../../http/entry.ts'
import type { Gate } from '../../http/gate.ts'
import type { Connections } from '../../http/request-limits.ts'
import { type ChatCall, type ChatRouteOptions, createChatEndpoint } from '../shared/endpoint.ts'
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

interface Caller {
  readonly principal: Principal
  readonly request: Request
  readonly upload: UploadContext
  readonly server: Connections | null
  readonly set: ResponseHeaders
}

const limit = { bytesMax: AGENT_BODY_BYTES_MAX }
const CONFIG = { allow: EVERYONE, parse: 'none', detail: { hide: true } } as const

/** One turn, by messages or by a prompt. */
export const chatRoutes = (gate: Gate, options: ChatRouteOptions, models: OllamaModels) => {
  const door = createChatEndpoint(options)
  const { clock } = options

  async function answer({ principal, request, server, set }: Caller, asked: Asked) {
    const assistant = await models.choose(principal, asked.model)
    const iso = () => new Date(clock.now()).toISOString()
    const head = {
      model: listedName(assistant),
      isChat: asked.isChat,
      iso,
      steady: clock.steady,
    }
    const sessionId = sessionOf({ field: 'session_id', given: undefined }, request.headers)
    if (asked.said.length === 0) return AnswerLines.loaded(head, isUnload(asked))
    const wanted = turnOf(asked, sessionId !== null, !isWithoutKb(request.headers))
    const call: ChatCall = {
      principal,
      request,
      server,
      set,
      wanted,
      sessionId,
      assistant,
      model: asked.model,
      field: asked.isChat ? 'messages' : 'prompt',
    }
    const { turn } = await door.openTurn(call)
    const lines = new AnswerLines(head)
    if (!asked.stream) {
      const events: AgentEvent[] = []
      const whole = await door.whole(call, turn, (batch) => {
        lines.note(batch)
        events.push(...batch.filter(({ type }) => type !== 'llm_delta'))
      })
      return door.send(call, whole.text.length, lines.whole(whole, events))
    }
    return door.streamBegun(
      call,
      turn,
      async (running, signal, emit) => {
        const end = await running.follow(signal, (events) => {
          const text = lines.of(events)
          return text === '' ? undefined : emit([text])
        })
        if (end) await emit([lines.ending(end)])
      },
      lines.format,
    )
  }

  const route = <Schema extends z.ZodType>(
    schema: Schema,
    askedBy: (input: z.output<Schema>) => Asked,
  ) => {
    const body = jsonBody(schema, limit)
    return async (caller: Caller) =>
      answer(caller, askedBy(await body.read(caller.request, caller.upload)))
  }

  return new Elysia()
    .use(gate)
    .post('/api/chat', route(ChatRequest, askedByChat), CONFIG)
    .post('/api/generate', route(GenerateRequest, askedByPrompt), CONFIG)
}
