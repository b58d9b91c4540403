import { shellQuoted } from '../../ui/curl.tsx'

/** The settings that a client of OpenAI's API needs. */
export interface Connection {
  readonly baseUrl: string
  readonly key: string
  readonly model: string
}

export const CLIENTS = [
  'typescript',
  'python',
  'curl',
  'claude',
  'ollama',
  'openwebui',
  'homeassistant',
] as const
export type Client = (typeof CLIENTS)[number]

/** The names of clients, which are the same in every language. */
export const CLIENT_NAMES: Readonly<Record<Client, string>> = {
  typescript: 'TypeScript',
  python: 'Python',
  curl: 'curl',
  claude: 'Claude Code',
  ollama: 'Ollama',
  openwebui: 'Open WebUI',
  homeassistant: 'Home Assistant',
}

/** A string literal of TypeScript and Python alike. */
const quoted = (text: string) => JSON.stringify(text)

/** A program or command that asks `question`; null for clients that are set up in a form. */
export function codeFor(client: Client, connection: Connection, question: string): string | null {
  const { baseUrl, key, model } = connection
  const body = { model, messages: [{ role: 'user', content: question }] }
  switch (client) {
    case 'typescript':
      return `import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: ${quoted(baseUrl)},
  apiKey: ${quoted(key)},
})
const answer = await client.chat.completions.create({
  model: ${quoted(model)},
  messages: [{ role: 'user', content: ${quoted(question)} }],
})
console.log(answer.choices[0].message.content)`
    case 'python':
      return `from openai import OpenAI

client = OpenAI(
    base_url=${quoted(baseUrl)},
    api_key=${quoted(key)},
)
answer = client.chat.completions.create(
    model=${quoted(model)},
    messages=[{"role": "user", "content": ${quoted(question)}}],
)
print(answer.choices[0].message.content)`
    case 'curl':
      return [
        `curl ${baseUrl}/chat/completions`,
        `  -H 'Authorization: Bearer ${key}'`,
        `  -H 'Content-Type: application/json'`,
        `  -d ${shellQuoted(JSON.stringify(body))}`,
      ].join(' \\\n')
    case 'claude':
      return claudeLines(connection)
    case 'ollama':
    case 'openwebui':
    case 'homeassistant':
      return null
  }
}

/** Where a client finds the server: some add the path of their API themselves. */
export function addressFor(client: Client, { baseUrl }: Connection): string {
  const root = baseUrl.replace(/\/v1$/, '')
  if (client === 'claude') return root
  return client === 'ollama' ? `${root}/ollama` : baseUrl
}

/**
 * What most models read that a coding agent can work with: of an unknown model Claude Code believes
 * that it reads a million tokens.
 */
const CONTEXT_TOKENS = 65_536

/** A shell reads these before it starts Claude Code, which calls a second, small model, too. */
function claudeLines(connection: Connection): string {
  const settings = {
    ANTHROPIC_BASE_URL: addressFor('claude', connection),
    ANTHROPIC_AUTH_TOKEN: connection.key,
    ANTHROPIC_MODEL: connection.model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: connection.model,
    CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(CONTEXT_TOKENS),
  }
  const lines = Object.entries(settings).map(
    ([name, value]) => `export ${name}=${shellQuoted(value)}`,
  )
  return [...lines, 'claude'].join('\n')
}

/** The model name of an app: its name, or its id when the name is not unique. */
export function modelOf(
  app: { readonly id: string; readonly name: string } | null,
  apps: readonly { readonly id: string; readonly name: string }[],
): string {
  if (app === null) return 'moonbase'
  const taken = ['moonbase', ...apps.flatMap(({ id, name }) => [id, name])]
  return taken.filter((name) => name === app.name).length === 1 ? app.name : app.id
}
