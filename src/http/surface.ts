import { type AnyElysia, Elysia } from 'elysia'
import { deviceRoutes } from '../features/devices/routes.ts'
import type { Devices } from '../features/devices/service.ts'
import { kbRoutes } from '../features/kb/routes.ts'
import type { Kb } from '../features/kb/service.ts'
import { providerRoutes } from '../features/provider/routes.ts'
import type { Provider } from '../features/provider/service.ts'
import { sessionRoutes } from '../features/sessions/routes.ts'
import type { Sessions } from '../features/sessions/service.ts'
import { type VoiceRouteOptions, voiceRoutes } from '../features/voice/routes.ts'
import type { Facts } from './facts.ts'
import type { Gate } from './gate.ts'

/** What the routes of both surfaces call. */
export interface SurfaceServices {
  readonly devices: Devices
  readonly provider: Provider
  readonly sessions: Sessions
  readonly kb: Kb
  readonly voice: VoiceRouteOptions
}

/**
 * The routes that `/v1` and `/console` share: built once, mounted twice, so that they cannot differ
 * (specification, dual-surface rule). A handler sees a principal and not where it came from.
 */
export function surface(
  prefix: '/v1' | '/console',
  gate: Gate,
  facts: Facts,
  { devices, kb, provider, sessions, voice }: SurfaceServices,
): AnyElysia {
  const routes: AnyElysia = new Elysia({ prefix })
  return routes
    .use(deviceRoutes(gate, devices))
    .use(kbRoutes(gate, kb, facts))
    .use(providerRoutes(gate, provider))
    .use(sessionRoutes(gate, sessions))
    .use(voiceRoutes(gate, voice))
}
