import { MANAGERS } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import { pageDoc, pageOf } from '../../http/list-page.ts'
import {
  DeliveriesResponse,
  IssuedWebhook,
  Webhook,
  WebhookDeleted,
  WebhookListResponse,
  WebhookRequest,
  WebhookTested,
} from './model.ts'
import type { Webhooks } from './service.ts'

const body = jsonBody(WebhookRequest)

/** Webhooks, on both surfaces. */
export const webhookRoutes = (on: Gated, webhooks: Webhooks) => {
  on.get(
    '/webhooks',
    ({ principal, request }) => {
      const { before, limit } = pageOf(request)
      return webhooks.list(principal, before, limit)
    },
    {
      allow: MANAGERS,
      response: WebhookListResponse,
      detail: { summary: 'List webhooks, newest first', parameters: pageDoc('webhooks') },
    },
  )
    .post(
      '/webhooks',
      async ({ principal, request, upload, set }) => {
        const webhook = await webhooks.create(principal, await body.read(request, upload))
        set.status = 201
        return webhook
      },
      {
        allow: MANAGERS,
        parse: 'none',
        response: { 201: IssuedWebhook },
        detail: {
          summary: 'Create a webhook; the answer shows its secret, once',
          requestBody: body.doc,
        },
      },
    )
    .put(
      '/webhooks/:id',
      async ({ principal, params, request, upload }) =>
        webhooks.replace(principal, params.id, await body.read(request, upload)),
      {
        allow: MANAGERS,
        parse: 'none',
        response: Webhook,
        detail: { summary: 'Replace a webhook; its secret stays', requestBody: body.doc },
      },
    )
    .delete(
      '/webhooks/:id',
      ({ principal, params }) => webhooks.remove(principal.tenantId, params.id),
      {
        allow: MANAGERS,
        response: WebhookDeleted,
        detail: { summary: 'Delete a webhook and what waits for it' },
      },
    )
  actions(on, webhooks)
}

const actions = (on: Gated, webhooks: Webhooks) =>
  on
    .post(
      '/webhooks/:id/rotate',
      ({ principal, params }) => webhooks.rotate(principal.tenantId, params.id),
      {
        allow: MANAGERS,
        parse: 'none',
        response: IssuedWebhook,
        detail: { summary: 'Give a webhook a new secret; the old one signs for a day, too' },
      },
    )
    .post(
      '/webhooks/:id/test',
      ({ principal, params }) => webhooks.test(principal.tenantId, params.id),
      {
        allow: MANAGERS,
        parse: 'none',
        response: WebhookTested,
        detail: { summary: 'Send a test to a webhook now' },
      },
    )
    .get(
      '/webhooks/:id/deliveries',
      ({ principal, params }) => webhooks.deliveries(principal.tenantId, params.id),
      {
        allow: MANAGERS,
        response: DeliveriesResponse,
        detail: { summary: 'List the last 50 deliveries of a webhook, newest first' },
      },
    )
