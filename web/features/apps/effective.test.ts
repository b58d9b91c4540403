import { describe, expect, test } from 'bun:test'
import type { AppInput, Persona } from '../../api/types.ts'
import { effective } from './effective.ts'

const app: AppInput = {
  name: 'a',
  system_prompt: null,
  persona_id: null,
  model: null,
  thinking: null,
  temperature: null,
  kb_enabled: true,
  tools_enabled: null,
  ...{ reminders: null, memory: null, may_ask: null },
  ...{ icon: null, description: null, greeting: null, starters: [] },
}
const OCR = { ocr: 'off' as const, ocr_model: null }
const settings = {
  model: null,
  thinking: false,
  temperature: null,
  mcp_tools: [],
  titles: true,
  ...OCR,
}
const persona = (id: string, is_default: number): Persona => ({
  id,
  name: id,
  prompt: `prompt of ${id}`,
  is_default,
  created_at: 0,
})

describe('effective settings of an app', () => {
  test('an app without settings shows those of the platform', () => {
    const result = effective(app, settings, [])
    expect(result.prompt).toEqual({ value: null, from: 'platform', persona: null })
    expect(result.model).toEqual({ value: null, from: 'platform' })
    expect(result.thinking).toEqual({ value: false, from: 'platform' })
    expect(result.tools).toEqual({ value: null, from: 'platform' })
  })

  test('an app shows the settings of the tenant for what it leaves out', () => {
    const tenant = {
      model: 'm',
      thinking: true,
      temperature: 0,
      mcp_tools: [],
      titles: true,
      ...OCR,
    }
    const result = effective(app, tenant, [persona('shared', 1)])
    expect(result.model).toEqual({ value: 'm', from: 'tenant' })
    expect(result.thinking).toEqual({ value: true, from: 'tenant' })
    expect(result.temperature).toEqual({ value: 0, from: 'tenant' })
    expect(result.prompt).toEqual({ value: 'prompt of shared', from: 'tenant', persona: 'shared' })
  })

  test('an app shows its own settings first, with false and 0 as values', () => {
    const own = { ...app, thinking: false, temperature: 0, tools_enabled: [], kb_enabled: false }
    const result = effective(own, { ...settings, thinking: true, temperature: 2 }, [])
    expect(result.thinking).toEqual({ value: false, from: 'app' })
    expect(result.temperature).toEqual({ value: 0, from: 'app' })
    expect(result.tools).toEqual({ value: [], from: 'app' })
    expect(result.kb).toEqual({ value: false, from: 'app' })
  })

  test('an app shows its prompt before its persona, and ignores a deleted persona', () => {
    const personas = [persona('own', 0), persona('shared', 1)]
    const both = { ...app, system_prompt: 'p', persona_id: 'own' }
    expect(effective(both, settings, personas).prompt.value).toBe('p')
    expect(effective({ ...app, persona_id: 'own' }, settings, personas).prompt.persona).toBe('own')
    expect(effective({ ...app, persona_id: 'gone' }, settings, personas).prompt.from).toBe('tenant')
  })
})
