import { Elysia } from 'elysia'
import { appError } from '../../core/errors.ts'
import { ACTIVATIONS_MAX } from '../../core/limits/contract.ts'
import { ANONYMOUS_BODY_BYTES_MAX } from '../../core/limits/machine.ts'
import { jsonBody } from '../../http/body.ts'
import { addressGroup, type ClientAddress } from '../../http/client-address.ts'
import type { Gate } from '../../http/gate.ts'
import type { RateLimiter } from '../../http/rate-limit.ts'
import type { Activation } from './activation.ts'
import {
  DeviceActivateRequest,
  DeviceActivateResponse,
  DeviceHeartbeatRequest,
  DeviceHeartbeatResponse,
} from './model.ts'

const code = jsonBody(DeviceActivateRequest, { bytesMax: ANONYMOUS_BODY_BYTES_MAX })
const report = jsonBody(DeviceHeartbeatRequest, { optional: true })

/** What the endpoints that devices themselves call need. */
export interface DeviceEndpoints {
  readonly activation: Activation
  readonly limiter: RateLimiter
  readonly addressOf: ClientAddress
}

/** The only machine route without a key: the code is the credential, with 10 tries a minute. */
const activationRoutes = ({ activation, limiter, addressOf }: DeviceEndpoints) =>
  new Elysia().post(
    '/devices/activate',
    async ({ request, server, set }) => {
      const address = addressGroup(addressOf(request, server))
      const headers = limiter.take(address, ACTIVATIONS_MAX, 'rate_limited_activation')
      Object.assign(set.headers, headers)
      return activation.activate((await code.read(request)).code)
    },
    {
      parse: 'none',
      response: DeviceActivateResponse,
      detail: {
        summary: 'Exchange an activation code for a device key',
        requestBody: code.doc,
        security: [],
      },
    },
  )

/** The report that a device is alive. */
const heartbeatRoutes = (gate: Gate, { activation }: DeviceEndpoints) =>
  new Elysia().use(gate).post(
    '/devices/heartbeat',
    async ({ principal, request, upload }) => {
      const told = await report.read(request, upload)
      if (principal.deviceId === null) throw appError('unauthorized')
      return activation.heartbeat(principal.tenantId, principal.deviceId, told)
    },
    {
      allow: ['device'],
      parse: 'none',
      response: DeviceHeartbeatResponse,
      detail: { summary: 'Report that a device is alive', requestBody: report.doc },
    },
  )

/** The endpoints that devices themselves call; machine side only. */
export const deviceEndpointRoutes = (gate: Gate, endpoints: DeviceEndpoints) =>
  new Elysia().use(activationRoutes(endpoints)).use(heartbeatRoutes(gate, endpoints))
