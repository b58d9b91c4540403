import { Elysia } from 'elysia'
import { MANAGERS } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gate } from '../../http/gate.ts'
import {
  Device,
  DeviceDeleteResponse,
  DeviceListResponse,
  DeviceRecodeResponse,
  DeviceRegisterRequest,
  DeviceRegisterResponse,
  DeviceUpdateRequest,
} from './model.ts'
import type { Devices } from './service.ts'

const registration = jsonBody(DeviceRegisterRequest)
const change = jsonBody(DeviceUpdateRequest)

/** Devices as their tenant manages them; the same on both surfaces. */
export const deviceRoutes = (gate: Gate, devices: Devices) =>
  new Elysia()
    .use(gate)
    .get('/devices', ({ principal }) => devices.list(principal.tenantId), {
      allow: MANAGERS,
      response: DeviceListResponse,
      detail: { summary: 'List devices' },
    })
    .post(
      '/devices',
      async ({ principal, request, upload, set }) => {
        const registered = await devices.register(
          principal.tenantId,
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
    .post(
      '/devices/:id/recode',
      ({ principal, params }) => devices.recode(principal.tenantId, params.id),
      {
        allow: MANAGERS,
        parse: 'none',
        response: DeviceRecodeResponse,
        detail: { summary: 'Issue a new activation code and revoke the key' },
      },
    )
