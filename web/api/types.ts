// The shapes of the server's answers, in the specification's words.
export type { AgentEvent, AnsweringChannel, KbRef } from '../../src/features/agent/events.ts'
export type {
  Device,
  DeviceRecodeResponse as PairingCode,
  DeviceRegisterResponse as RegisteredDevice,
} from '../../src/features/devices/model.ts'
export type { KbChunk, KbDoc, KbHit } from '../../src/features/kb/model.ts'
export type { LoginMethods } from '../../src/features/login/model.ts'
export type {
  ProviderConfig as Provider,
  ProviderTestResponse as ProviderTest,
} from '../../src/features/provider/model.ts'
export type { HistoryResponse as History, SessionRow } from '../../src/features/sessions/model.ts'
export type { VoiceResponse as VoiceReply } from '../../src/features/voice/model.ts'

export interface Me {
  user_id: string
  email: string
  tenant_id: string
}

export interface ApiKeyMeta {
  id: string
  prefix: string
  created_at: number
  revoked_at: number | null
  rate_limit: number
  app_id: string | null
  device_id: string | null
}

/** Holds the plaintext, which no other answer ever does. */
export interface IssuedKey {
  id: string
  prefix: string
  rate_limit: number
  key: string
}

export interface Persona {
  id: string
  name: string
  prompt: string
  is_default: number
  created_at: number
}

export interface Settings {
  model: string | null
  thinking: boolean
  temperature: number | null
}

export interface AppInput {
  name: string
  system_prompt: string | null
  persona_id: string | null
  model: string | null
  thinking: boolean | null
  temperature: number | null
  kb_enabled: boolean
  tools_enabled: string[] | null
}

export interface App extends AppInput {
  id: string
  created_at: string
}

export interface LogRow {
  id: string
  app_id: string | null
  device_id: string | null
  endpoint: string
  status: number
  latency_ms: number | null
  session_id: string | null
  text_chars: number | null
  error_class: string | null
  channel: string | null
  ts: string
}

export interface Logs {
  logs: LogRow[]
  summary: { count: number; err_count: number; p50_ms: number | null; p95_ms: number | null }
}

export interface Usage {
  total: number
  daily: { day: number; count: number }[]
  key_count: number
}

export interface ConfigExport {
  format_version: number
  exported_at: string
  personas: { name: string; prompt: string; is_default: boolean }[]
  apps: (Omit<AppInput, 'persona_id'> & { persona_ref: string | null })[]
  settings: Settings
}

export interface ImportResult {
  imported: { personas: number; apps: number; settings: boolean }
  skipped: string[]
  errors: string[]
}

export interface Status {
  status: string
  checks: { name: string; state: string; class?: string | null; latency_ms?: number | null }[]
}
