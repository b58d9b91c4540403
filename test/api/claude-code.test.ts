import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import recorded from '../fixtures/message-requests/claude-code-2.1.json'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

/** Requests of Claude Code 2.1.330, without a screen; words and identities are others. */
interface Recorded {
  readonly method: string
  readonly path: string
  readonly headers: object
  readonly body: { readonly messages?: readonly { readonly content: unknown }[] } | null
  readonly status: number
}

let upstream: Upstream
let app: TestApp
let key: TestKey
beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl, env: { MB_LOG_LEVEL: 'debug' } })
  key = await app.key()
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

async function play({ method, path, headers, body }: Recorded) {
  const response = await fetch(`${app.url}${path}`, {
    method,
    headers: { ...(headers as Record<string, string>), ...key.headers },
    ...(body === null ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, text: await response.text() }
}
const sent = () => upstream.requests.map(({ body }) => body)
const TOO_LONG =
  "This model's maximum context length is 8192 tokens. However, you requested 9001 tokens."

describe('a session of Claude Code', () => {
  test('warms up without a line in the log and finds a model that it knows', async () => {
    for (const request of recorded.warmup) expect((await play(request)).status).toBe(404)
    await app.flush()
    expect(app.log()).not.toContain('unmatched')
    const { status, text } = await play(recorded.models)
    expect(status).toBe(200)
    expect(JSON.parse(text).data[0].id).toMatch(/claude|anthropic/)
  })

  test('a tool goes round, and what was sent stays at the head of the next request', async () => {
    const [first, second] = recorded.turns as unknown as readonly Recorded[]
    if (!first || !second) throw new Error('nothing was recorded')
    upstream.reply({ text: 'I look.', toolCalls: [{ name: 'Read', id: 'call_1', arguments: {} }] })
    const asked = await play(first)
    expect(asked.text).toContain('"stop_reason":"tool_use"')
    expect(Number(/"input_tokens":(\d+)/.exec(asked.text)?.[1])).toBeGreaterThan(0)
    upstream.reply({ text: 'It says hello.' })
    expect((await play(second)).text).toContain('"stop_reason":"end_turn"')
    const [before, after] = sent()
    const head = before?.messages ?? []
    expect(head.map(({ role }) => role)).toEqual(['system', 'user'])
    expect(head[1]?.content).toMatch(/text 2\n<system-reminder>\ntext 3\n<\/system-reminder>$/)
    expect(after?.messages.slice(0, head.length)).toEqual([...head])
    expect(after?.messages.slice(head.length)).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'call_1' }] },
      { role: 'tool', tool_call_id: 'call_1' },
    ])
    const { tools } = before as unknown as { tools: { function: { name: string } }[] }
    const names = tools.map((tool) => tool.function.name)
    expect(names).toEqual(['Agent', 'Read', 'DeferredToolPlaceholder'])
  })

  test('shortens itself by the words of the refusal and goes on', async () => {
    const [refused, ...shorter] = recorded.compaction as unknown as readonly Recorded[]
    if (!refused) throw new Error('nothing was recorded')
    upstream.fault(400, { body: JSON.stringify({ error: { message: TOO_LONG } }) })
    const { status, text } = await play(refused)
    expect([status, JSON.parse(text).error.message]).toEqual([
      400,
      'prompt is too long: 9001 tokens > 8192 maximum',
    ])
    for (const request of shorter) expect((await play(request)).text).toContain('message_stop')
    expect(sent()).toHaveLength(1 + shorter.length)
  })

  test('counts of tokens grow with the tools and take no model', async () => {
    const counts: number[] = []
    for (const request of recorded.counts) {
      counts.push(JSON.parse((await play(request as Recorded)).text).input_tokens)
    }
    const [bare = 0, withTools = 0] = counts
    expect(bare).toBeGreaterThan(0)
    expect(withTools).toBeGreaterThan(bare)
    expect(sent()).toEqual([])
  })
})
