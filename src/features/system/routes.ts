import type { Principal, PrincipalKind } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import { queryDoc } from '../../http/openapi-parts.ts'
import type { LastTests } from './last-tests.ts'
import { type MachineRouteOptions, machineRoutes } from './machine-routes.ts'
import {
  LocalModelsResponse,
  ModelListRequest,
  ModelListResponse,
  ModelPackResponse,
  SystemPutRequest,
  SystemPutShown,
  SystemResponse,
  SystemShown,
  SystemTestRequest,
  SystemTestResponse,
} from './model.ts'
import type { System } from './service.ts'
import { isSystemSetting } from './settings.ts'
import type { Trial } from './trial.ts'

export interface SystemRouteOptions {
  readonly machine: MachineRouteOptions
  readonly system: System
  readonly trial: Trial
  readonly tests: LastTests
  /** The address of a signed-in person. */
  readonly emailOf: (principal: Principal) => Promise<string>
  readonly localModels: () => Promise<LocalModelsResponse>
  readonly modelPack: () => ModelPackResponse
  readonly modelsAt: (
    endpoint: { readonly baseUrl: string; readonly apiKey: string },
    signal: AbortSignal,
  ) => Promise<ModelListResponse>
}

const PEOPLE: readonly PrincipalKind[] = ['session']
const changes = jsonBody(SystemPutRequest, { shown: SystemPutShown })
const PUT_QUERY = queryDoc({ untested: '1 saves mail settings without a test mail' })
const test = jsonBody(SystemTestRequest)
const address = jsonBody(ModelListRequest)

/** Settings of the whole server, for its operators. `tell` is told what a request has changed. */
export const systemRoutes = (
  on: Gated,
  options: SystemRouteOptions,
  tell: (request: Request, changed: string) => void,
) => {
  const { system, trial, tests, emailOf, localModels, modelPack, modelsAt } = options
  on.get('/system', () => ({ settings: system.get().settings, tests: tests.shown() }), {
    allow: PEOPLE,
    requireOperator: true,
    response: SystemShown,
    detail: { summary: 'Read the settings of the server' },
  })
    .put(
      '/system',
      async ({ principal, request, upload }) => {
        const change = await changes.read(request, upload)
        const untested = new URL(request.url).searchParams.get('untested') === '1'
        const by = { email: await emailOf(principal), untested, signal: request.signal }
        const answer = await system.put(change, by)
        const names = Object.keys(change).filter(isSystemSetting).sort()
        tell(request, [...names, ...(untested ? ['untested'] : [])].join(', '))
        return answer
      },
      {
        allow: PEOPLE,
        requireOperator: true,
        parse: 'none',
        response: SystemResponse,
        detail: {
          summary: 'Change settings of the server at once',
          requestBody: changes.doc,
          parameters: PUT_QUERY,
        },
      },
    )
    .post(
      '/system/test',
      async ({ principal, request, upload }) => {
        const { part } = await test.read(request, upload)
        const result = await trial(part, await emailOf(principal), request.signal)
        tests.note(part, result)
        return result
      },
      {
        allow: PEOPLE,
        requireOperator: true,
        parse: 'none',
        response: SystemTestResponse,
        detail: { summary: 'Use a part of the server once', requestBody: test.doc },
      },
    )
    .get('/system/local-models', () => localModels(), {
      allow: PEOPLE,
      requireOperator: true,
      response: LocalModelsResponse,
      detail: { summary: 'Find model servers on this machine' },
    })
    .get('/system/model-pack', () => modelPack(), {
      allow: PEOPLE,
      requireOperator: true,
      response: ModelPackResponse,
      detail: { summary: 'Look for a model pack on this machine' },
    })
    .post(
      '/system/models',
      async ({ request, upload }) => {
        const { base_url: baseUrl, api_key: given } = await address.read(request, upload)
        const apiKey = given === undefined ? system.keyFor(baseUrl) : given
        return modelsAt({ baseUrl, apiKey }, request.signal)
      },
      {
        allow: PEOPLE,
        requireOperator: true,
        parse: 'none',
        response: ModelListResponse,
        detail: { summary: 'List the models of an address', requestBody: address.doc },
      },
    )
  machineRoutes(on, options.machine)
}
