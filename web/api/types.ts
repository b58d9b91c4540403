import type { AgentEvent as TurnEvent } from '../../src/features/agent/events.ts'
import type { AskEvent } from '../../src/features/asks/events.ts'

// The shapes of the server's answers, named as the API names them.

export type {
  AnsweringChannel,
  KbRef,
  TurnStats,
} from '../../src/features/agent/events.ts'
export type { AgentCheckResponse as AgentCheck, AppDraft } from '../../src/features/agent/model.ts'
export type {
  App,
  AppUpsertRequest as AppInput,
  AppVersion,
} from '../../src/features/apps/model.ts'
export type { AskAnswerRequest as AskAnswer } from '../../src/features/asks/model.ts'
export type { AuditResponse as Audit } from '../../src/features/audit/model.ts'
export type {
  Device,
  DeviceRecodeResponse as PairingCode,
  DeviceRegisterResponse as RegisteredDevice,
  WaitingBoardResponse as WaitingBoard,
} from '../../src/features/devices/model.ts'
export type {
  FeedbackRequest as FeedbackInput,
  FeedbackResponse as FeedbackList,
} from '../../src/features/feedback/model.ts'
export type { Invitation } from '../../src/features/invitations/model.ts'
export type {
  ApiKeyMeta,
  IssueKeyResponse as IssuedKey,
  KeyUpdateRequest as KeyInput,
  MadeByKey,
} from '../../src/features/keys/model.ts'
export type { Collection } from '../../src/features/knowledge/collections/model.ts'
export type {
  ChosenItem,
  LibraryResponse as LibraryPage,
  LibrarySort,
  LibraryState,
  ListedSource,
} from '../../src/features/knowledge/library/model.ts'
export type {
  KbChunk,
  KbDoc,
  KbDocResponse,
  KbProgress,
  KbSearchHit as KbHit,
} from '../../src/features/knowledge/model.ts'
export type {
  KbLimitsResponse as KbLimits,
  Refresh,
  Source,
} from '../../src/features/knowledge/sources/model.ts'
export type { LoginMethods, Me } from '../../src/features/login/model.ts'
export type { Passkey } from '../../src/features/login/passkeys/model.ts'
export type {
  LogsResponse as Logs,
  RequestLogEntry as LogRow,
} from '../../src/features/logs/model.ts'
export type {
  McpCallResponse,
  McpDefinition,
  McpServer,
  McpServerRequest as McpServerInput,
  McpTool,
} from '../../src/features/mcp-servers/model.ts'
export type { Member } from '../../src/features/members/model.ts'
export type { Person } from '../../src/features/people/model.ts'
export type { Persona } from '../../src/features/personas/model.ts'
export type {
  ModelListResponse as ModelList,
  ProviderConfig as Provider,
  ProviderTestResponse as ProviderTest,
} from '../../src/features/provider/model.ts'
export type {
  Conversation,
  ConversationListResponse as ConversationList,
  HistoryResponse as History,
  KbCitation,
  TranscriptResponse as Transcript,
  TranscriptTurn,
} from '../../src/features/sessions/model.ts'
export type { TenantSettings as Settings } from '../../src/features/settings/model.ts'
export type {
  IssuedShare,
  Share,
  ShareChange,
  ShareRequest as ShareInput,
} from '../../src/features/shares/model.ts'
export type { StatusReport as Status } from '../../src/features/site/status.ts'
export type {
  BackupsResponse as Backups,
  OverviewResponse as Overview,
} from '../../src/features/system/machine-model.ts'
export type {
  LastTest,
  LocalModelsResponse as LocalModels,
  ModelListResponse as AddressModels,
  ModelPackResponse as ModelPack,
  SystemSetting,
  SystemTestResponse as SystemTest,
} from '../../src/features/system/model.ts'
export type { TenantSummary } from '../../src/features/tenants/limits-routes.ts'
export type { ConfigExport, ImportResult } from '../../src/features/transfer/model.ts'
export type { UsageResponse as Usage } from '../../src/features/usage/model.ts'

/** As far as it is shown. */
export interface Completion {
  readonly model: string
  readonly choices: readonly { readonly message: { readonly content: string | null } }[]
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number }
}
export type { BoardsResponse as Boards } from '../../src/doors/xiaozhi/console-routes.ts'

/** A passage of a file beside a question. */
export interface FileRef {
  readonly file_id: string
  readonly name: string
  readonly seq: number
  readonly page: number | null
  readonly heading: string | null
}

/** What a turn asks its person. */
export type Ask = Omit<Extract<AskEvent, { type: 'ask' }>, 'type'>

/** What the console alone is told: the name of the turn, and more of how it ended. */
export type StudioEvent =
  | AskEvent
  | Exclude<TurnEvent, { type: 'llm_end' | 'error' }>
  | { readonly type: 'turn'; readonly turn_id: string }
  | { readonly type: 'file_refs'; readonly refs: readonly FileRef[] }
  | {
      readonly type: 'llm_end'
      readonly reply: string
      readonly stopped?: boolean
      readonly seq?: number
    }
  | {
      readonly type: 'error'
      readonly message: string
      readonly code: string
      /** What went wrong, in a word, and the status of the provider. */
      readonly class?: string
      readonly status?: number | null
      /** For those who can mend it: what the provider answered. */
      readonly detail?: string
    }

/** What the console is told of a stored turn beside what programs are. */
export interface StudioDetails {
  readonly stopped?: boolean
  readonly images?: readonly { readonly file_id: string }[]
  readonly files?: readonly { readonly file_id: string; readonly name: string }[]
}

/** What operators set of a workspace. */
export interface TenantLimits {
  readonly daily_tokens: number
  readonly max_docs: number | null
  readonly disabled: boolean
}
