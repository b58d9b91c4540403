import { describe, expect, test } from 'bun:test'
import type { McpServer, McpTool } from '../../api/types.ts'
import { offerOf, toggled } from './offer.ts'

const tool = (call_name: string, more: Partial<McpTool> = {}): McpTool => ({
  ...{ name: call_name.split('__')[1] ?? '', call_name, title: null, description: '' },
  ...{
    read_only: false,
    ask: false,
    destructive: true,
    schema_chars: 100,
    state: 'approved',
    reason: null,
  },
  hash: call_name,
  ...more,
})

const server = (name: string, tools: McpTool[], more: Partial<McpServer> = {}): McpServer => ({
  ...{ id: name, name, url: '', header_name: null, header_tail: null, enabled: true },
  ...{ auth: 'none', client_id: null, client_secret_tail: null, scopes: null },
  ...{ signed_in: false, signed_in_by: null, signed_in_at: null, scopes_needed: null },
  ...{ state: 'ready', error_class: null, protocol: null, latency_ms: null, checked_at: null },
  ...{ tools, created_at: '' },
  ...more,
})

const named = (tools: readonly McpTool[]) => tools.map(({ call_name }) => call_name)

describe('what a turn offers of MCP servers', () => {
  const home = server('home', [
    tool('home__on'),
    tool('home__off'),
    tool('home__new', { state: 'new' }),
  ])

  test('approved tools are offered once, by their name or by that of all', () => {
    const { tools, chars } = offerOf([home], ['home__off', 'home__*', 'calculator', 'home__new'])
    expect(named(tools)).toEqual(['home__off', 'home__on'])
    expect(chars).toBe(200)
  })

  test('a server that is off or has failed offers nothing', () => {
    for (const more of [{ enabled: false }, { state: 'failed' }] as const) {
      expect(offerOf([{ ...home, ...more }], ['home__*']).tools).toEqual([])
    }
  })

  test('tools beyond the limits of a turn are listed', () => {
    const large = server(
      'large',
      ['a', 'b', 'c', 'd', 'e'].map((one) => tool(`large__${one}`, { schema_chars: 16_000 })),
    )
    const offer = offerOf([large], ['large__*'])
    expect(offer.tools.length).toBe(3)
    expect(named(offer.leftOut)).toEqual(['large__d', 'large__e'])
    const many = server(
      'many',
      Array.from({ length: 40 }, (_, i) => tool(`many__${i}`)),
    )
    expect(offerOf([many], ['many__*']).leftOut.length).toBe(8)
  })

  test('all tools of a server take the place of single ones', () => {
    expect(toggled(['calculator', 'home__on'], home, 'home__*', true)).toEqual([
      'calculator',
      'home__*',
    ])
    expect(toggled(['home__on', 'home__off'], home, 'home__on', false)).toEqual(['home__off'])
  })
})
