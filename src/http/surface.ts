import { type AnyElysia, Elysia } from 'elysia'
import { kbRoutes } from '../features/kb/routes.ts'
import type { Kb } from '../features/kb/service.ts'
import { sessionRoutes } from '../features/sessions/routes.ts'
import type { Sessions } from '../features/sessions/service.ts'
import { type VoiceRouteOptions, voiceRoutes } from '../features/voice/routes.ts'
import type { Facts } from './facts.ts'
import type { Gate } from './gate.ts'

/** What the routes of both surfaces call. */
export interface SurfaceServices {
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
  { sessions, kb, voice }: SurfaceServices,
): AnyElysia {
  const routes: AnyElysia = new Elysia({ prefix })
  return routes.use([
    sessionRoutes(gate, sessions),
    kbRoutes(gate, kb, facts),
    voiceRoutes(gate, voice),
  ])
}
