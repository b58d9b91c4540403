import type { ConfigExport, ImportResult } from '../../src/features/transfer/model.ts'
import { type Call, type Surface, surfaceOf } from './api.ts'
import type { TestApp } from './app.ts'

export interface Persona {
  id: string
  name: string
  prompt: string
  is_default: number
}
export interface App {
  id: string
  name: string
  persona_id: string | null
  model: string | null
}

export const APP = {
  system_prompt: null,
  persona_ref: null,
  model: null,
  thinking: null,
  temperature: null,
  kb_enabled: true,
  tools_enabled: null,
  collections: null,
}
export const EMPTY = {
  format_version: 1,
  personas: [],
  apps: [],
  settings: {
    ...{ model: null, thinking: false, temperature: null, mcp_tools: [], titles: true },
    ...{ ocr: 'off' as const, ocr_model: null },
  },
  mcp_servers: [],
}

let tenants = 0
/** A new tenant: a client of its console, and one of the surface under test. */
export async function freshTenant(app: TestApp, surface: Surface) {
  const email = `t${++tenants}@example.com`
  return {
    email,
    me: await surfaceOf(app, surface, email),
    person: await surfaceOf(app, '/console', email),
  }
}

export const exported = async (call: Call) => {
  const { exported_at: _, ...config } = (await call<ConfigExport>('GET', '/export')).json()
  return config
}
export const personasOf = async (person: Call) =>
  (await person<{ personas: Persona[] }>('GET', '/personas')).json().personas
export const appsOf = async (person: Call) =>
  (await person<{ apps: App[] }>('GET', '/apps')).json().apps
export const settingsOf = async (person: Call) => (await person('GET', '/settings')).json()

/** Fills a tenant with every kind of item, some of them secret. */
export async function seedConfiguration(person: Call) {
  const persona = { name: '客服', prompt: '你是客服', is_default: true }
  const { id } = (await person<Persona>('POST', '/personas', persona)).json()
  await person('POST', '/personas', { name: '老师', prompt: '你是老师' })
  const full = {
    name: '一号',
    system_prompt: '提示',
    persona_id: id,
    model: 'm',
    thinking: true,
    temperature: 0.5,
    kb_enabled: false,
    tools_enabled: [],
  }
  const first = (await person<App>('POST', '/apps', full)).json()
  await person('POST', '/apps', { name: '二号', persona_id: 'dangling' })
  await person('PUT', '/settings', {
    ...{ model: 'gpt', thinking: true, temperature: 1, price_in: 0.5, price_out: 2 },
    ...{ ocr: 'scans', ocr_model: 'seer' },
  })
  return (await person<{ key: string }>('POST', `/apps/${first.id}/keys`)).json().key
}

export const load = async (call: Call, config: unknown, mode?: unknown) =>
  (await call<ImportResult>('POST', '/import', { config, ...(mode ? { mode } : {}) })).json()
