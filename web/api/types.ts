// The shapes of the server's answers, in the specification's words.
export type { AgentEvent, AnsweringChannel, KbRef } from '../../src/features/agent/events.ts'
export type { LoginMethods } from '../../src/features/login/model.ts'

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

export interface KbDoc {
  id: string
  title: string
  char_count: number
  chunk_count: number
  created_at: string
}

export interface KbChunk {
  seq: number
  text: string
}

export interface KbHit {
  doc_id: string
  title: string
  seq: number
  score: number
  text: string
}

export interface Provider {
  configured: boolean
  base_url: string | null
  key_tail: string | null
  failover: boolean
}

export interface ProviderTest {
  ok: boolean
  latency_ms: number
  error?: string
}

export interface Device {
  id: string
  name: string
  app_id: string | null
  hw_model: string | null
  firmware: string | null
  activated_at: string | null
  last_seen_at: string | null
  code_expires_at: string | null
  created_at: string
}

/** A code to pair a device with, shown once. */
export interface PairingCode {
  id: string
  activation_code: string
  code_expires_at: string
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

export interface SessionRow {
  id: string
  turn_count: number
  first_at: string
  last_at: string
  app_id: string | null
  device_id: string | null
}

export interface History {
  messages: { role: 'user' | 'assistant'; content: string }[]
  summary: string
  count: number
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

export interface VoiceReply {
  asr_text: string
  reply_text: string
  audio_b64: string | null
  audio_format: 'mp3'
}

export interface Status {
  status: string
  checks: { name: string; state: string; class?: string | null; latency_ms?: number | null }[]
}
