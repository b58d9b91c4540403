import { Elysia } from 'elysia'
import {
  TRIGGER_PER_ADDRESS_MINUTE_MAX,
  TRIGGER_PER_MINUTE_MAX,
} from '../../core/limits/contract.ts'
import { TRIGGER_BODY_BYTES_MAX } from '../../core/limits/machine.ts'
import { MANAGERS } from '../../core/principal.ts'
import { jsonBody, readBytes } from '../../http/body.ts'
import { addressGroup, type ClientAddress } from '../../http/client-address.ts'
import type { Gated } from '../../http/gate.ts'
import type { JsonAnswers } from '../../http/json-answers.ts'
import { pageDoc, pageOf } from '../../http/list-page.ts'
import { jsonDoc } from '../../http/openapi-parts.ts'
import type { Origins } from '../../http/origin.ts'
import type { RateLimiter } from '../../http/request-limits.ts'
import { checkBodyType, textOfBody } from './material.ts'
import {
  IssuedTrigger,
  RunStarted,
  Trigger,
  TriggerDeleted,
  TriggerListResponse,
  TriggerRequest,
} from './model.ts'
import type { Triggers } from './service.ts'

const body = jsonBody(TriggerRequest)

/** Triggers, on both surfaces. */
export const triggerRoutes = (
  on: Gated,
  triggers: Triggers,
  { base }: Pick<Origins, 'base'>,
  answers: JsonAnswers,
) =>
  on
    .get(
      '/triggers',
      (context) => {
        const { before, limit } = pageOf(context.request)
        const { tenantId } = context.principal
        return answers.respond(context, () => triggers.list(tenantId, before, limit))
      },
      {
        allow: MANAGERS,
        detail: {
          summary: 'List triggers, newest first',
          parameters: pageDoc('triggers'),
          responses: jsonDoc(TriggerListResponse),
        },
      },
    )
    .post(
      '/triggers',
      async ({ principal, request, upload, set }) => {
        const asked = await body.read(request, upload)
        const trigger = await triggers.create(principal, base(request), asked)
        set.status = 201
        return trigger
      },
      {
        allow: MANAGERS,
        parse: 'none',
        response: { 201: IssuedTrigger },
        detail: {
          summary: 'Create a trigger; the answer shows its address, once',
          requestBody: body.doc,
        },
      },
    )
    .put(
      '/triggers/:id',
      async ({ principal, params, request, upload }) =>
        triggers.replace(principal, params.id, await body.read(request, upload)),
      {
        allow: MANAGERS,
        parse: 'none',
        response: Trigger,
        detail: {
          summary: 'Replace a trigger; its address stays, its runs become yours',
          requestBody: body.doc,
        },
      },
    )
    .delete(
      '/triggers/:id',
      ({ principal, params }) => triggers.remove(principal.tenantId, params.id),
      {
        allow: MANAGERS,
        response: TriggerDeleted,
        detail: { summary: 'Delete a trigger; its address ends' },
      },
    )

/** What a caller may send; the model reads it as material. */
const CALLED_WITH = {
  'application/json': { schema: {} },
  'application/x-www-form-urlencoded': { schema: { type: 'object' } },
  'text/plain': { schema: { type: 'string' } },
} as const

export interface HookParts {
  readonly triggers: Pick<Triggers, 'open' | 'call'>
  readonly limiter: Pick<RateLimiter, 'take'>
  readonly addressOf: ClientAddress
}

/** What anybody may call who knows the address of a trigger. */
export const hookRoutes = ({ triggers, limiter, addressOf }: HookParts) =>
  new Elysia({ name: 'hooks' }).post(
    '/hooks/:token',
    async ({ params, request, server, set }) => {
      const trigger = await triggers.open(params.token)
      const address = addressGroup(addressOf(request, server))
      const { id } = trigger
      await limiter.take(`${id} ${address}`, TRIGGER_PER_ADDRESS_MINUTE_MAX)
      await limiter.take(id, TRIGGER_PER_MINUTE_MAX)
      const type = request.headers.get('content-type')
      checkBodyType(type)
      const bytes = await readBytes(request, TRIGGER_BODY_BYTES_MAX)
      const text = await textOfBody(bytes, type)
      set.headers['cache-control'] = 'no-store'
      set.status = 202
      return triggers.call(trigger, text)
    },
    {
      parse: 'none',
      response: { 202: RunStarted },
      detail: {
        summary: 'Begin the run of a trigger; the body is JSON, a form or text',
        tags: ['triggers'],
        security: [],
        requestBody: { content: CALLED_WITH },
      },
    },
  )
