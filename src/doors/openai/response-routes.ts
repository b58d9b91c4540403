import { newId } from '../../core/crypto.ts'
import { AGENT_BODY_BYTES_MAX } from '../../core/limits/contract.ts'
import { EVERYONE, type Principal } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import { openAiError } from '../../http/openai-answers.ts'
import {
  CHAT_PARAMETERS,
  type ChatCall,
  type ChatRouteOptions,
  chatDoc,
  createChatEndpoint,
} from '../shared/endpoint.ts'
import { sessionOf } from '../shared/fields.ts'
import { ResponseAnswer } from './answer-schemas.ts'
import type { KeptItems } from './kept-items.ts'
import {
  clientToolsIn,
  conversationId,
  type ResponseRequest,
  responseRequest,
  turnOfResponse,
} from './response-request.ts'
import { RESPONSE_DONE, ResponseWriter } from './response-writer.ts'

export interface ResponseRouteOptions extends ChatRouteOptions {
  readonly keptItems: KeptItems
}

const DOC = chatDoc(
  'A response, or response.* events that end with [DONE]. Fields that are not named here ' +
    'repeat the request.',
  ResponseAnswer,
)

/** POST /v1/responses: one turn in the form of Open Responses. */
export const responseRoutes = (on: Gated, options: ResponseRouteOptions) => {
  const endpoint = createChatEndpoint(options)
  const { limits, keptItems } = options
  const body = jsonBody(responseRequest(limits), { bytesMax: AGENT_BODY_BYTES_MAX })
  const now = () => Math.floor(options.clock.now() / 1000)
  return on.post(
    '/responses',
    async ({ principal, request, upload, server, set }) => {
      const given = await body.read(request, upload)
      const input = await resolved(keptItems, principal, given)
      const { model } = input
      const sessionId = sessionOf(
        { field: 'conversation', given: conversationId(input) },
        request.headers,
      )
      const clientTools = clientToolsIn(input)
      const wanted = turnOfResponse(input, clientTools, sessionId !== null, limits)
      const field = 'input'
      const from = { door: 'responses', principal, request, server, set } as const
      const call: ChatCall = { ...from, model, wanted, field, sessionId }
      const { turn, head } = await endpoint.openTurn(call)
      const writer = new ResponseWriter({
        request: input,
        clientTools,
        head: { id: `resp_${newId()}`, ...head },
        query: wanted.text,
        now,
        errorBody: openAiError,
      })
      const keep = async () => {
        if (input.store !== false) await keptItems.keep(principal, writer.items)
      }
      if (!input.stream) {
        const answer = await endpoint.whole(call, turn, (events) => void writer.of(events))
        const response = writer.finished(answer)
        await keep()
        return endpoint.send(call, answer.text.length, response)
      }
      const format = {
        frame: (text: string) => text,
        isLast: (text: string) => text.endsWith(RESPONSE_DONE),
        onStop: (reason: Parameters<ResponseWriter['failed']>[0]) => writer.failed(reason),
      }
      return endpoint.stream(
        call,
        turn,
        async (signal, emit) => {
          await emit([writer.opening()])
          const answer = await turn.run(signal, (events) => {
            const text = writer.of(events)
            return text === '' ? undefined : emit([text])
          })
          if (!answer) return
          const ending = writer.ending(answer)
          // Before the client can refer to them.
          await keep()
          await emit([ending])
        },
        format,
      )
    },
    {
      allow: EVERYONE,
      parse: 'none',
      detail: {
        summary: 'Responses, as of Open Responses',
        parameters: CHAT_PARAMETERS,
        requestBody: body.doc,
        responses: DOC,
      },
    },
  )
}

/** The request with items in the place of references. */
async function resolved(
  keptItems: KeptItems,
  principal: Principal,
  request: ResponseRequest,
): Promise<ResponseRequest> {
  const { input } = request
  return typeof input === 'string'
    ? request
    : { ...request, input: [...(await keptItems.resolve(principal, input))] }
}
