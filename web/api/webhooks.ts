import type { IssuedTrigger, Trigger, TriggerRequest } from '../../src/features/triggers/model.ts'
import type {
  Delivery,
  IssuedWebhook,
  Webhook,
  WebhookRequest,
  WebhookTested,
} from '../../src/features/webhooks/model.ts'
import { call, segment } from './client.ts'

export type { Delivery, Trigger, TriggerRequest, Webhook, WebhookRequest }

const HOOKS = '/console/webhooks'
const TRIGGERS = '/console/triggers'

export const webhooks = {
  list: async (): Promise<readonly Webhook[]> =>
    (await call<{ webhooks: Webhook[] }>('GET', `${HOOKS}?limit=200`)).webhooks,
  create: (input: WebhookRequest) => call<IssuedWebhook>('POST', HOOKS, input),
  update: (id: string, input: WebhookRequest) =>
    call<Webhook>('PUT', `${HOOKS}/${segment(id)}`, input),
  remove: (id: string) => call<unknown>('DELETE', `${HOOKS}/${segment(id)}`),
  rotate: (id: string) => call<IssuedWebhook>('POST', `${HOOKS}/${segment(id)}/rotate`),
  test: (id: string) => call<WebhookTested>('POST', `${HOOKS}/${segment(id)}/test`),
  deliveries: async (id: string): Promise<readonly Delivery[]> =>
    (await call<{ deliveries: Delivery[] }>('GET', `${HOOKS}/${segment(id)}/deliveries`))
      .deliveries,
  triggers: async (): Promise<readonly Trigger[]> =>
    (await call<{ triggers: Trigger[] }>('GET', `${TRIGGERS}?limit=200`)).triggers,
  createTrigger: (input: TriggerRequest) => call<IssuedTrigger>('POST', TRIGGERS, input),
  updateTrigger: (id: string, input: TriggerRequest) =>
    call<Trigger>('PUT', `${TRIGGERS}/${segment(id)}`, input),
  removeTrigger: (id: string) => call<unknown>('DELETE', `${TRIGGERS}/${segment(id)}`),
}
