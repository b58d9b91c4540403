import { type AnyElysia, Elysia } from 'elysia'
import { appRoutes } from './features/apps/routes.ts'
import type { Apps } from './features/apps/service.ts'
import { type AuditParts, auditHooks, auditRoutes } from './features/audit/routes.ts'
import type { Pairing } from './features/devices/pairing.ts'
import { deviceRoutes, pairingRoutes } from './features/devices/routes.ts'
import type { Devices } from './features/devices/service.ts'
import { fileRoutes } from './features/files/routes.ts'
import type { Files } from './features/files/service.ts'
import { keyRoutes } from './features/keys/routes.ts'
import type { Keys } from './features/keys/service.ts'
import { kbRoutes } from './features/knowledge/routes.ts'
import type { Kb } from './features/knowledge/service.ts'
import { sourceRoutes } from './features/knowledge/sources/routes.ts'
import type { Sources } from './features/knowledge/sources/service.ts'
import { logRoutes } from './features/logs/routes.ts'
import type { Logs } from './features/logs/service.ts'
import { mcpServerRoutes, mcpToolRoutes } from './features/mcp-servers/routes.ts'
import type { McpServers } from './features/mcp-servers/service.ts'
import { memberRoutes } from './features/members/routes.ts'
import type { Members } from './features/members/service.ts'
import { peopleRoutes } from './features/people/routes.ts'
import type { People } from './features/people/service.ts'
import { personaRoutes } from './features/personas/routes.ts'
import type { Personas } from './features/personas/service.ts'
import { promptRoutes } from './features/prompts/routes.ts'
import type { Prompts } from './features/prompts/service.ts'
import type { ModelLists } from './features/provider/model-list.ts'
import { modelListRoutes, providerRoutes } from './features/provider/routes.ts'
import type { Provider } from './features/provider/service.ts'
import type { Branches } from './features/sessions/branches.ts'
import { conversationRoutes } from './features/sessions/conversation-routes.ts'
import type { Conversations } from './features/sessions/conversations.ts'
import type { SessionExport } from './features/sessions/export.ts'
import { sessionRoutes } from './features/sessions/routes.ts'
import type { Sessions, Transcripts } from './features/sessions/service.ts'
import { settingsRoutes } from './features/settings/routes.ts'
import type { Settings } from './features/settings/service.ts'
import { shareRoutes } from './features/shares/routes.ts'
import type { Shares } from './features/shares/service.ts'
import { type SystemRouteOptions, systemRoutes } from './features/system/routes.ts'
import { transferRoutes } from './features/transfer/routes.ts'
import type { Transfer } from './features/transfer/service.ts'
import { usageRoutes } from './features/usage/routes.ts'
import type { Usage } from './features/usage/service.ts'
import { type VoiceRouteOptions, voiceRoutes } from './features/voice/routes.ts'
import type { Gate } from './http/gate.ts'
import type { JsonAnswers } from './http/json-answers.ts'
import type { RequestContexts } from './http/observe.ts'
import type { PersonLimit } from './http/request-limits.ts'

/** Services of the routes that both surfaces have. */
export interface SurfaceServices {
  readonly devices: Devices
  readonly pairing: Pairing
  readonly provider: Provider
  readonly sessions: Sessions
  readonly transcripts: Transcripts
  readonly branches: Branches
  readonly exportSession: SessionExport
  readonly kb: Kb
  readonly sources: Sources
  readonly files: Files
  readonly prompts: Prompts
  readonly voice: VoiceRouteOptions
  readonly apps: Apps
  readonly logs: Logs
  readonly transfer: Transfer
  readonly mcpServers: McpServers
  readonly audit: AuditParts
  readonly shares: Shares
  readonly answers: JsonAnswers
}

/**
 * The routes that `/v1` and `/console` share: built once, mounted twice, so that they cannot
 * differ. A handler sees a principal and not the surface.
 */
export function surface(
  prefix: '/v1' | '/console',
  gate: Gate,
  contexts: RequestContexts,
  services: SurfaceServices,
): AnyElysia {
  const { apps, devices, kb, sources, logs, transfer, provider, voice, answers } = services
  const { sessions, transcripts, branches, exportSession } = services
  const routes: AnyElysia = new Elysia({ prefix })
  const { before, after } = auditHooks(services.audit)
  return routes
    .onBeforeHandle(before)
    .onAfterHandle(after)
    .use(appRoutes(gate, apps))
    .use(shareRoutes(gate, services.shares))
    .use(deviceRoutes(gate, devices))
    .use(pairingRoutes(gate, services.pairing))
    .use(kbRoutes(gate, kb, contexts, answers))
    .use(sourceRoutes(gate, sources, answers))
    .use(fileRoutes(gate, services))
    .use(promptRoutes(gate, services.prompts))
    .use(logRoutes(gate, logs))
    .use(transferRoutes(gate, transfer, answers, services.audit))
    .use(providerRoutes(gate, provider))
    .use(mcpServerRoutes(gate, services.mcpServers, answers))
    .use(sessionRoutes(gate, { sessions, transcripts, branches, exportSession, answers }))
    .use(voiceRoutes(gate, voice, sessions))
}

/** Services of the routes that only signed-in people may call. */
export interface ConsoleServices {
  readonly conversations: Conversations
  readonly branches: Branches
  readonly modelLists: ModelLists
  readonly keys: Keys
  readonly answers: JsonAnswers
  readonly personas: Personas
  readonly settings: Settings
  readonly usage: Usage
  readonly members: Members
  readonly sessions: Sessions
  readonly mcpServers: McpServers
  /** For routes that take as much of the machine as a turn. */
  readonly studioLimit: PersonLimit
  readonly audit: AuditParts
  readonly system: SystemRouteOptions
  readonly people: People
}

/** The routes of `/console` alone. */
export function consoleOnly(gate: Gate, services: ConsoleServices): AnyElysia {
  const { conversations, keys, personas, settings, usage } = services
  const { members, audit, system, people, answers } = services
  const routes: AnyElysia = new Elysia({ prefix: '/console' })
  const { before, after, tell } = auditHooks(audit)
  return routes
    .onBeforeHandle(before)
    .onAfterHandle(after)
    .use(conversationRoutes(gate, conversations, services.branches))
    .use(modelListRoutes(gate, services.modelLists))
    .use(keyRoutes(gate, keys, answers))
    .use(personaRoutes(gate, personas, answers))
    .use(settingsRoutes(gate, settings))
    .use(usageRoutes(gate, usage, answers))
    .use(memberRoutes(gate, members))
    .use(auditRoutes(gate, audit))
    .use(mcpToolRoutes(gate, services.mcpServers, services.studioLimit))
    .use(systemRoutes(gate, system, tell))
    .use(peopleRoutes(gate, people))
}
