import { MANAGERS } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import {
  ModelListResponse,
  ProviderConfig,
  ProviderPutRequest,
  ProviderTestResponse,
} from './model.ts'
import type { ModelLists } from './model-list.ts'
import type { Provider } from './service.ts'

const configuration = jsonBody(ProviderPutRequest)

/** The tenant's own model channel; the same on both surfaces. */
export const providerRoutes = (on: Gated, provider: Provider) =>
  on
    .get('/provider', ({ principal }) => provider.get(principal.tenantId), {
      allow: MANAGERS,
      response: ProviderConfig,
      detail: { summary: "Read the configuration of the tenant's own model channel" },
    })
    .put(
      '/provider',
      async ({ principal, request, upload }) => {
        provider.checkAvailable()
        return provider.put(principal.tenantId, await configuration.read(request, upload))
      },
      {
        allow: MANAGERS,
        parse: 'none',
        response: ProviderConfig,
        detail: { summary: 'Bring an own model channel', requestBody: configuration.doc },
      },
    )
    .delete('/provider', ({ principal }) => provider.remove(principal.tenantId), {
      allow: MANAGERS,
      response: ProviderConfig,
      detail: { summary: 'Return to the platform channel' },
    })
    .post(
      '/provider/test',
      ({ principal, request }) => provider.test(principal.tenantId, request.signal),
      {
        allow: MANAGERS,
        parse: 'none',
        response: ProviderTestResponse,
        detail: { summary: 'Ask the saved channel for one token' },
      },
    )

/** GET /console/models: the models that the tenant's channel lists, for a form that names one. */
export const modelListRoutes = (on: Gated, modelLists: ModelLists) =>
  on.get('/models', ({ principal }) => modelLists.list(principal.tenantId), {
    allow: MANAGERS,
    response: ModelListResponse,
    detail: { summary: "List the models of the tenant's channel; believed for a minute" },
  })
