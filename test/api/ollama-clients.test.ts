import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import recorded from '../fixtures/ollama-requests/clients.json'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { tempFolder } from '../support/temp.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

/** The calls of a client one after another; `base` is where it was told that Ollama is. */
interface Client {
  readonly what: string
  readonly base: 'door' | 'port'
  readonly headers: object
  readonly calls: readonly Call[]
}
interface Call {
  readonly method: string
  readonly path: string
  readonly headers?: object
  readonly body?: object
  readonly lines?: boolean
  /** What the answer, or its last line, has. */
  readonly answer: object
  /** The messages that reach the model. */
  readonly sent?: readonly object[]
}

let upstream: Upstream
let app: TestApp
let key: TestKey
const folder = tempFolder()
beforeAll(async () => {
  upstream = await startUpstream()
  const env = { MB_DATA_DIR: folder.path }
  {
    await using first = await startApp({ env })
    key = await first.key()
  }
  const port = { MB_OLLAMA_PORT: '0', MB_OLLAMA_KEY: key.key }
  app = await startApp({ upstream: upstream.baseUrl, env: { ...env, ...port } })
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
  folder[Symbol.dispose]()
})

async function play({ base, headers }: Client, call: Call): Promise<unknown> {
  const root = base === 'door' ? `${app.url}/ollama` : `http://127.0.0.1:${app.ollamaPort}`
  const own = base === 'door' ? key.headers : {}
  const response = await fetch(`${root}${call.path}`, {
    method: call.method,
    headers: { ...(headers as Record<string, string>), ...own, ...call.headers },
    ...(call.body ? { body: JSON.stringify(call.body) } : {}),
  })
  const text = await response.text()
  expect([call.path, response.status, text.slice(0, 300)]).toEqual([
    call.path,
    200,
    expect.any(String),
  ])
  return JSON.parse(call.lines ? (text.trim().split('\n').at(-1) ?? '') : text)
}

for (const client of recorded as unknown as readonly Client[]) {
  test(`${client.what}: all that it asks is answered as it reads it`, async () => {
    for (const call of client.calls) {
      expect(await play(client, call)).toMatchObject(call.answer)
      if (call.sent) {
        const messages = upstream.requests.at(-1)?.body.messages ?? []
        expect(messages.slice(-call.sent.length)).toMatchObject([...call.sent])
      }
    }
  })
}
