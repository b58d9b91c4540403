import type { AnyElysia } from 'elysia'
import { TURN_BODY } from './features/agent/routes.ts'
import { appRoutes } from './features/apps/routes.ts'
import type { Apps } from './features/apps/service.ts'
import { askRoutes } from './features/asks/routes.ts'
import type { Asks } from './features/asks/service.ts'
import { type AuditParts, auditHooks, auditRoutes } from './features/audit/routes.ts'
import type { Pairing } from './features/devices/pairing.ts'
import { deviceRoutes, pairingRoutes } from './features/devices/routes.ts'
import type { Devices } from './features/devices/service.ts'
import { feedbackRoutes } from './features/feedback/routes.ts'
import type { Feedback } from './features/feedback/service.ts'
import { pictureRoutes } from './features/files/picture-routes.ts'
import type { Pictures } from './features/files/pictures.ts'
import { fileRoutes } from './features/files/routes.ts'
import type { Files } from './features/files/service.ts'
import { keyRoutes } from './features/keys/routes.ts'
import type { Keys } from './features/keys/service.ts'
import type { Access } from './features/knowledge/collections/access.ts'
import { collectionRoutes } from './features/knowledge/collections/routes.ts'
import type { CollectionService } from './features/knowledge/collections/service.ts'
import { libraryRoutes } from './features/knowledge/library/routes.ts'
import type { Library } from './features/knowledge/library/service.ts'
import { kbRoutes } from './features/knowledge/routes.ts'
import type { Kb } from './features/knowledge/service.ts'
import { sourceRoutes } from './features/knowledge/sources/routes.ts'
import type { Sources } from './features/knowledge/sources/service.ts'
import { logRoutes } from './features/logs/routes.ts'
import type { Logs } from './features/logs/service.ts'
import { mcpServerRoutes, mcpToolRoutes } from './features/mcp-servers/routes.ts'
import type { McpServers } from './features/mcp-servers/service.ts'
import { type McpSignInParts, mcpSignInRoutes } from './features/mcp-servers/sign-in-routes.ts'
import { memberRoutes } from './features/members/routes.ts'
import type { Members } from './features/members/service.ts'
import { memoryRoutes, suggestRoutes } from './features/memories/routes.ts'
import type { Memories } from './features/memories/service.ts'
import type { Suggest } from './features/memories/suggest.ts'
import { peopleRoutes } from './features/people/routes.ts'
import type { People } from './features/people/service.ts'
import { personaRoutes } from './features/personas/routes.ts'
import type { Personas } from './features/personas/service.ts'
import { promptRoutes } from './features/prompts/routes.ts'
import type { Prompts } from './features/prompts/service.ts'
import type { ModelLists } from './features/provider/model-list.ts'
import { modelListRoutes, providerRoutes } from './features/provider/routes.ts'
import type { Provider } from './features/provider/service.ts'
import type { Notices } from './features/runs/notices.ts'
import { noticeRoutes, runRoutes, scheduleRoutes } from './features/runs/routes.ts'
import type { Runs } from './features/runs/runs.ts'
import type { Schedules } from './features/runs/schedules.ts'
import type { Branches } from './features/sessions/branches.ts'
import { type CitationRouteOptions, citationRoutes } from './features/sessions/citation-routes.ts'
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
import { type TenantLimitParts, tenantLimitRoutes } from './features/tenants/limits-routes.ts'
import { transferRoutes } from './features/transfer/routes.ts'
import type { Transfer } from './features/transfer/service.ts'
import { triggerRoutes } from './features/triggers/routes.ts'
import type { Triggers } from './features/triggers/service.ts'
import { usageRoutes } from './features/usage/routes.ts'
import type { Usage } from './features/usage/service.ts'
import { type VoiceRouteOptions, voiceRoutes } from './features/voice/routes.ts'
import { webhookRoutes } from './features/webhooks/routes.ts'
import type { Webhooks } from './features/webhooks/service.ts'
import { type Gate, gated } from './http/gate.ts'
import type { JsonAnswers } from './http/json-answers.ts'
import type { RequestContexts } from './http/observe.ts'
import type { Origins } from './http/origin.ts'
import type { PersonLimit } from './http/request-limits.ts'
import type { Sse } from './http/sse.ts'

/** Services of the routes that both surfaces have. */
export interface SurfaceServices {
  readonly devices: Devices
  readonly notices: Notices
  readonly pairing: Pairing
  readonly provider: Provider
  readonly sessions: Sessions
  readonly transcripts: Transcripts
  readonly branches: Branches
  readonly exportSession: SessionExport
  readonly kb: Kb
  readonly access: Access
  readonly collections: CollectionService
  readonly citations: CitationRouteOptions
  readonly sources: Sources
  readonly files: Files
  readonly prompts: Prompts
  readonly runs: Runs
  readonly schedules: Schedules
  readonly memories: Memories
  readonly webhooks: Webhooks
  readonly triggers: Triggers
  readonly asks: Asks
  readonly voice: VoiceRouteOptions
  readonly apps: Apps
  readonly logs: Logs
  readonly transfer: Transfer
  readonly mcpServers: McpServers
  readonly audit: AuditParts
  readonly shares: Shares
  /** For the addresses of shares. */
  readonly origins: Pick<Origins, 'base'>
  readonly feedback: Feedback
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
  const { sessions, transcripts, branches, exportSession, access } = services
  const on = gated(gate, prefix)
  const { before, after, tell, spare } = auditHooks(services.audit)
  on.onBeforeHandle(before).onAfterHandle(after)
  askRoutes(on, services.asks, tell)
  appRoutes(on, apps)
  shareRoutes(on, services.shares, services.origins)
  deviceRoutes(on, devices, services.notices)
  pairingRoutes(on, services.pairing)
  kbRoutes(on, { kb, access, contexts, answers })
  citationRoutes(on, services.citations)
  collectionRoutes(on, services.collections)
  sourceRoutes(on, { sources, access, answers })
  fileRoutes(on, services)
  promptRoutes(on, services.prompts, answers)
  runRoutes(on, services.runs, TURN_BODY)
  scheduleRoutes(on, services.schedules, answers)
  memoryRoutes(on, services.memories, { tell, spare })
  webhookRoutes(on, services.webhooks)
  triggerRoutes(on, services.triggers, services.origins, answers)
  logRoutes(on, logs)
  transferRoutes(on, transfer, answers, services.audit)
  providerRoutes(on, provider)
  mcpServerRoutes(on, services.mcpServers, answers)
  sessionRoutes(on, { sessions, transcripts, branches, exportSession, answers })
  feedbackRoutes(on, services.feedback)
  voiceRoutes(on, voice, sessions)
  return on
}

/** Services of the routes that only signed-in people may call. */
export interface ConsoleServices {
  readonly conversations: Conversations
  readonly branches: Branches
  readonly modelLists: ModelLists
  readonly keys: Keys
  readonly answers: JsonAnswers
  readonly personas: Personas
  readonly notices: Notices
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
  readonly origins: Pick<Origins, 'base'>
  readonly pictures: Pictures
  readonly suggest: Suggest
  readonly sse: Sse
  readonly tenantLimits: TenantLimitParts
  readonly library: Library
  readonly access: Access
}

/** The routes of `/console` alone. */
export function consoleOnly(
  gate: Gate,
  services: ConsoleServices,
  signIn: McpSignInParts,
): AnyElysia {
  const { conversations, keys, personas, settings, usage } = services
  const { members, audit, system, people, answers } = services
  const on = gated(gate, '/console')
  const { before, after, tell } = auditHooks(audit)
  on.onBeforeHandle(before).onAfterHandle(after)
  conversationRoutes(on, conversations, services.branches)
  modelListRoutes(on, services.modelLists)
  keyRoutes(on, keys, answers)
  noticeRoutes(on, services.notices)
  personaRoutes(on, personas, answers)
  settingsRoutes(on, settings)
  usageRoutes(on, usage, answers)
  memberRoutes(on, members)
  auditRoutes(on, audit)
  mcpToolRoutes(on, services.mcpServers, services.studioLimit)
  mcpSignInRoutes(on, services.mcpServers, signIn, services.studioLimit)
  systemRoutes(on, system, tell)
  peopleRoutes(on, people, services.origins)
  pictureRoutes(on, services.pictures)
  suggestRoutes(on, services)
  tenantLimitRoutes(on, services.tenantLimits)
  libraryRoutes(on, services)
  return on
}
