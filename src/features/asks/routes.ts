import { NOT_DEVICES } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import { AskAnswerRequest, AskAnswerResponse } from './model.ts'
import type { Asks } from './service.ts'

const body = jsonBody(AskAnswerRequest)

/** Names the tool and what was decided, for the audit. */
type Tell = (request: Request, target: string, name: string) => void

/** POST …/agent/asks/:id: what a person answers to a turn that waits. */
export const askRoutes = (on: Gated, asks: Pick<Asks, 'answer'>, tell: Tell) =>
  on.post(
    '/agent/asks/:id',
    async ({ principal, params, request, upload }) => {
      const answer = await body.read(request, upload)
      const { server, tool } = await asks.answer(principal, params.id, answer)
      tell(request, params.id, `${server === null ? '' : `${server}/`}${tool} ${answer.action}`)
      return { id: params.id }
    },
    {
      allow: NOT_DEVICES,
      parse: 'none',
      response: AskAnswerResponse,
      detail: { summary: 'Answer what a turn asks', requestBody: body.doc },
    },
  )
