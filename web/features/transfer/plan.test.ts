import { describe, expect, test } from 'bun:test'
import type { ConfigExport } from '../../api/types.ts'
import { plan, readConfig } from './plan.ts'

const OCR = { ocr: 'off' as const, ocr_model: null }
const settings = {
  model: null,
  thinking: false,
  temperature: null,
  mcp_tools: [],
  titles: true,
  ...OCR,
}
const persona = (name: string, prompt = 'p') => ({ name, prompt, is_default: false })
const config = (personas: ConfigExport['personas'], more = {}): ConfigExport => ({
  format_version: 1,
  exported_at: '2026-01-01T00:00:00.000Z',
  personas,
  apps: [],
  settings,
  mcp_servers: [],
  ...more,
})

describe('preview of an import', () => {
  test('the import preview shows new, same, skipped and overwritten items', () => {
    const wanted = config([persona('a'), persona('b', 'changed'), persona('c')])
    const held = config([persona('a'), persona('b')])
    const fates = (mode: 'skip' | 'merge') => plan(wanted, held, mode).map(({ fate }) => fate)
    expect(fates('skip')).toEqual(['same', 'skip', 'new', 'same'])
    expect(fates('merge')).toEqual(['same', 'overwrite', 'new', 'same'])
  })

  test('the import preview takes over unset settings in both modes', () => {
    const wanted = config([], { settings: { ...settings, model: 'm' } })
    expect(plan(wanted, config([]), 'skip')[0]?.fate).toBe('new')
    const held = config([], { settings: { ...settings, thinking: true } })
    expect(plan(wanted, held, 'skip')[0]?.fate).toBe('skip')
    expect(plan(wanted, held, 'merge')[0]?.fate).toBe('overwrite')
  })

  test('the import preview names MCP servers', () => {
    const server = { name: 'home', url: 'https://a.example.com', header_name: null, enabled: true }
    const wanted = config([], { mcp_servers: [server, { ...server, name: 'other' }] })
    const held = config([], { mcp_servers: [{ ...server, enabled: false }] })
    const servers = plan(wanted, held, 'merge').filter(({ kind }) => kind === 'mcp_server')
    expect(servers.map(({ name, fate }) => [name, fate])).toEqual([
      ['home', 'overwrite'],
      ['other', 'new'],
    ])
  })

  test('the import preview names all that the file holds', () => {
    const texts = (text: string) => ({
      collections: [{ name: 'Shop', description: null }],
      prompts: [{ name: 'reply', title: 'reply', text }],
      schedules: [{ name: 'Morning', text }],
      webhooks: [{ name: 'Chat', url: 'https://a.example.com', events: ['run.done'] }],
    })
    const planned = plan(
      config([], texts('new')),
      config([], { ...texts('old'), webhooks: [] }),
      'merge',
    )
    expect(planned.map(({ kind, name, fate }) => `${kind} ${name} ${fate}`)).toEqual([
      'settings  same',
      'collection Shop same',
      'prompt reply overwrite',
      'schedule Morning overwrite',
      'webhook Chat new',
    ])
  })

  test('a file that names no tools is the same as unset ones', () => {
    const { mcp_tools: _, ...rest } = settings
    expect(plan(config([], { settings: rest }), config([]), 'skip')[0]?.fate).toBe('same')
  })

  test('the import preview reads only configuration files', () => {
    expect(readConfig('{"format_version":1}')).toMatchObject({ personas: [], apps: [] })
    for (const text of [
      '',
      'null',
      '[]',
      '{"format_version":2}',
      '{"format_version":1,"apps":3}',
    ]) {
      expect(readConfig(text)).toBeNull()
    }
  })
})
