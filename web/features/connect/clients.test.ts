import { expect, test } from 'bun:test'
import { addressFor, type Connection, codeFor, modelOf } from './clients.ts'

const connection: Connection = {
  baseUrl: 'https://box.example/v1',
  key: '<API_KEY>',
  model: 'Ann\'s "shop"',
}

test('code for clients quotes names of apps', () => {
  expect(codeFor('typescript', connection, 'hi')).toContain('model: "Ann\'s \\"shop\\"",')
  expect(codeFor('python', connection, 'hi')).toContain('model="Ann\'s \\"shop\\"",')
  expect(codeFor('openwebui', connection, 'hi')).toBeNull()
})

test('the curl command sends what it shows', async () => {
  const command = codeFor('curl', connection, "what's up?") ?? ''
  const echo = command.replace(/^curl/, 'printf "%s\\n"')
  const { stdout } = Bun.spawnSync(['sh', '-c', echo])
  const args = stdout.toString().trimEnd().split('\n')
  expect(args).toContain('https://box.example/v1/chat/completions')
  expect(JSON.parse(args.at(-1) ?? '')).toEqual({
    model: connection.model,
    messages: [{ role: 'user', content: "what's up?" }],
  })
})

test('a shell takes the lines for Claude Code as they are', () => {
  const lines = codeFor('claude', connection, 'hi')?.replace(/\nclaude$/, '\nenv') ?? ''
  const { stdout } = Bun.spawnSync(['sh', '-c', lines])
  const set = stdout.toString().split('\n')
  expect(set).toContain('ANTHROPIC_BASE_URL=https://box.example')
  expect(set).toContain('ANTHROPIC_AUTH_TOKEN=<API_KEY>')
  expect(set).toContain(`ANTHROPIC_MODEL=${connection.model}`)
  expect(set).toContain(`ANTHROPIC_DEFAULT_HAIKU_MODEL=${connection.model}`)
  expect(set).toContain('CLAUDE_CODE_MAX_CONTEXT_TOKENS=65536')
  expect(addressFor('ollama', connection)).toBe('https://box.example/ollama')
  expect(addressFor('curl', connection)).toBe('https://box.example/v1')
})

test('an app is a model by its name, or by its id where the name is not unique', () => {
  const apps = [
    { id: '1', name: 'shop' },
    { id: '2', name: 'twin' },
    { id: '3', name: 'twin' },
    { id: '4', name: 'moonbase' },
  ]
  expect([null, ...apps].map((app) => modelOf(app, apps))).toEqual([
    'moonbase',
    'shop',
    '2',
    '3',
    '4',
  ])
})
