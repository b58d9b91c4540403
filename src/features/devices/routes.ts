import { Elysia } from 'elysia'
import { appError } from '../../core/errors.ts'
import { ACTIVATIONS_MAX } from '../../core/limits/contract.ts'
import { ANONYMOUS_BODY_BYTES_MAX } from '../../core/limits/machine.ts'
import { MANAGERS } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import { addressGroup, type ClientAddress } from '../../http/client-address.ts'
import type { Gated } from '../../http/gate.ts'
import type { RateLimiter } from '../../http/request-limits.ts'
import type { AuditCode } from '../audit/service.ts'
import type { Notices } from '../runs/notices.ts'
import type { Activation } from './activation.ts'
import {
  Device,
  DeviceActivateRequest,
  DeviceActivateResponse,
  DeviceDeleteResponse,
  DeviceHeartbeatRequest,
  DeviceHeartbeatResponse,
  DeviceListResponse,
  DevicePairRequest,
  DeviceRecodeResponse,
  DeviceRegisterRequest,
  DeviceRegisterResponse,
  DeviceSayRequest,
  DeviceSayResponse,
  DeviceUpdateRequest,
  WaitingBoardRequest,
  WaitingBoardResponse,
} from './model.ts'
import type { Pairing } from './pairing.ts'
import type { Devices } from './service.ts'

const registration = jsonBody(DeviceRegisterRequest)
const change = jsonBody(DeviceUpdateRequest)
const pairRequest = jsonBody(DevicePairRequest)
const digits = jsonBody(WaitingBoardRequest)
const sentence = jsonBody(DeviceSayRequest)

/** Devices as their tenant manages them; the same on both surfaces. */
export const deviceRoutes = (on: Gated, devices: Devices, notices: Pick<Notices, 'say'>) =>
  on
    .get('/devices', ({ principal }) => devices.list(principal.tenantId), {
      allow: MANAGERS,
      response: DeviceListResponse,
      detail: { summary: 'List devices' },
    })
    .post(
      '/devices',
      async ({ principal, request, upload, set }) => {
        const registered = await devices.register(
          principal,
          await registration.read(request, upload),
        )
        set.status = 201
        return registered
      },
      {
        allow: MANAGERS,
        parse: 'none',
        response: { 201: DeviceRegisterResponse },
        detail: { summary: 'Register a device', requestBody: registration.doc },
      },
    )
    .get('/devices/:id', ({ principal, params }) => devices.read(principal.tenantId, params.id), {
      allow: MANAGERS,
      response: Device,
      detail: { summary: 'Read a device' },
    })
    .put(
      '/devices/:id',
      async ({ principal, params, request, upload }) =>
        devices.update(principal.tenantId, params.id, await change.read(request, upload)),
      {
        allow: MANAGERS,
        parse: 'none',
        response: Device,
        detail: { summary: 'Rename or rebind a device', requestBody: change.doc },
      },
    )
    .delete(
      '/devices/:id',
      ({ principal, params }) => devices.remove(principal.tenantId, params.id),
      {
        allow: MANAGERS,
        response: DeviceDeleteResponse,
        detail: { summary: 'Delete a device and revoke its key' },
      },
    )
    .post('/devices/:id/recode', ({ principal, params }) => devices.recode(principal, params.id), {
      allow: MANAGERS,
      parse: 'none',
      response: DeviceRecodeResponse,
      detail: { summary: 'Issue a new activation code and revoke the key' },
    })
    .post(
      '/devices/:id/say',
      async ({ principal, params, request, upload, set }) => {
        const { tenantId } = principal
        const { text } = await sentence.read(request, upload)
        const { id } = await devices.read(tenantId, params.id)
        set.status = 202
        return notices.say({ tenantId, deviceId: id, text })
      },
      {
        allow: MANAGERS,
        parse: 'none',
        response: { 202: DeviceSayResponse },
        detail: {
          summary: 'Have a device say a sentence: at once where it is connected, within a day else',
          requestBody: sentence.doc,
        },
      },
    )

/** Boards that show six digits; the same on both surfaces. */
export const pairingRoutes = (on: Gated, pairing: Pairing) =>
  on
    .post(
      '/devices/pair',
      async ({ principal, request, upload, set }) => {
        const asked = await pairRequest.read(request, upload)
        const device = await pairing.pair(principal, asked)
        set.status = 201
        return device
      },
      {
        allow: MANAGERS,
        parse: 'none',
        response: { 201: Device },
        detail: { summary: 'Pair the board that shows these digits', requestBody: pairRequest.doc },
      },
    )
    .post(
      '/devices/pair/board',
      async ({ principal, request, upload }) =>
        pairing.waitingBoard(principal.tenantId, (await digits.read(request, upload)).code),
      {
        allow: MANAGERS,
        parse: 'none',
        response: WaitingBoardResponse,
        detail: { summary: 'See which board shows these digits', requestBody: digits.doc },
      },
    )

const code = jsonBody(DeviceActivateRequest, { bytesMax: ANONYMOUS_BODY_BYTES_MAX })
const report = jsonBody(DeviceHeartbeatRequest, { optional: true })

/** The parts of the routes that devices themselves call. */
export interface DeviceEndpoints {
  readonly activation: Activation
  readonly limiter: RateLimiter
  readonly addressOf: ClientAddress
  readonly auditCode: AuditCode
  /** What the device is told, once. */
  readonly notices: Pick<Notices, 'forDevice'>
}

/** The only machine route without a key: the code is the credential, with 10 tries a minute. */
export const activationRoutes = ({ activation, limiter, addressOf, auditCode }: DeviceEndpoints) =>
  new Elysia().post(
    '/devices/activate',
    async ({ request, server, set }) => {
      const address = addressGroup(addressOf(request, server))
      const headers = await limiter.take(address, ACTIVATIONS_MAX, 'rate_limited_activation')
      Object.assign(set.headers, headers)
      const { answer, ...made } = await activation.activate((await code.read(request)).code)
      const route = '/devices/activate'
      await auditCode(request, server, { ...made, userId: null, route, target: answer.device_id })
      return answer
    },
    {
      parse: 'none',
      response: DeviceActivateResponse,
      detail: {
        summary: 'Exchange an activation code for a device key',
        requestBody: code.doc,
      },
    },
  )

/** The report that a device is alive. */
export const heartbeatRoutes = (on: Gated, { activation, notices }: DeviceEndpoints) =>
  on.post(
    '/devices/heartbeat',
    async ({ principal, request, upload }) => {
      const told = await report.read(request, upload)
      if (principal.deviceId === null) throw appError('unauthorized')
      const { tenantId, deviceId } = principal
      const heard = await activation.heartbeat(tenantId, deviceId, told)
      return { ...heard, notices: await notices.forDevice(tenantId, deviceId) }
    },
    {
      allow: ['device'],
      parse: 'none',
      response: DeviceHeartbeatResponse,
      detail: { summary: 'Report that a device is alive', requestBody: report.doc },
    },
  )
