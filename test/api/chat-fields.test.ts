import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../support/app.ts'
import { chatTenant, clientTool, user } from '../support/completions.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl })
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const PNG = 'data:image/png;base64,iVBORw0KGgo='
const image = (url: string) => ({ type: 'image_url', image_url: { url, detail: 'low' } })
const HI = [user('hi')]
const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })
const calls = (...ids: string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map(call),
})
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'done' })
const sent = () => upstream.requests.map(({ body }) => body)
/** The messages of the first model call. */
const said = () => (sent()[0]?.messages ?? []) as readonly { content: unknown }[]
const names = (body: (typeof upstream.requests)[number]['body'] | undefined) =>
  (body?.tools as { function: { name: string } }[] | undefined)?.map((tool) => tool.function.name)

describe('fields of a chat completion that reach the model', () => {
  test('sampling fields are passed on to every model call', async () => {
    const chat = await chatTenant(app)
    upstream.reply({ toolCalls: [{ name: 'calculator', arguments: { expression: '1+1' } }] })
    const schema = { name: 's', strict: true, schema: { type: 'object' } }
    const fields = {
      temperature: 0.5,
      top_p: 0.9,
      presence_penalty: 0.1,
      frequency_penalty: -0.1,
      seed: 42,
      stop: ['END'],
      parallel_tool_calls: false,
      response_format: { type: 'json_schema', json_schema: schema },
    }
    await chat.whole({ messages: HI, ...fields, max_tokens: 5, max_completion_tokens: 9 })
    expect(sent()).toHaveLength(2)
    for (const body of sent()) expect(body).toMatchObject({ ...fields, max_tokens: 9 })
  })

  test('opaque and null fields are accepted and have no effect', async () => {
    const chat = await chatTenant(app)
    const opaque = {
      user: 'u',
      metadata: { a: 'b' },
      store: true,
      safety_identifier: 'x',
      prompt_cache_key: 'x',
      prompt_cache_retention: '24h',
      service_tier: 'auto',
      logit_bias: { 1: 2 },
      logprobs: true,
      top_logprobs: 2,
      verbosity: 'low',
      prediction: { type: 'content', content: 'x' },
      web_search_options: {},
    }
    const nulls = { tools: null, stop: null, n: null, functions: null, seed: null, kb: null }
    const { status } = await chat.whole({ messages: HI, ...opaque, ...nulls, n: 1, stream: null })
    expect(status).toBe(200)
    for (const field of [...Object.keys(opaque), 'stop', 'seed', 'n']) {
      expect(sent()[0]).not.toHaveProperty(field)
    }
  })

  test('a tool choice of none offers no tool, and a forced tool applies to one call', async () => {
    const chat = await chatTenant(app)
    const tools = [clientTool('lamp'), clientTool('calculator')]
    await chat.whole({ messages: HI, tools, tool_choice: 'none' })
    expect(sent()[0]).not.toHaveProperty('tools')
    upstream.reset()
    for (const choice of ['required', { type: 'function', function: { name: 'lamp' } }]) {
      upstream.reply({ toolCalls: [{ name: 'current_time', arguments: {} }] })
      await chat.whole({ messages: HI, tools, tool_choice: choice })
      const [first, second] = sent()
      expect(first?.tool_choice).toEqual(choice)
      expect(second).not.toHaveProperty('tool_choice')
      expect(names(second)).toContain('lamp')
      upstream.reset()
    }
  })

  test("of two tools with one name the client's is offered and called", async () => {
    const chat = await chatTenant(app)
    upstream.reply({ toolCalls: [{ name: 'calculator', id: 'c', arguments: {} }] })
    const { body } = await chat.whole({ messages: HI, tools: [clientTool('calculator')] })
    expect(body.choices[0].message.tool_calls?.[0]?.id).toBe('c')
    expect(names(sent()[0])?.filter((name) => name === 'calculator')).toHaveLength(1)
    expect(names(sent()[0])).toContain('current_time')
  })

  test("an app's allow-list leaves the client's tools alone", async () => {
    const chat = await chatTenant(app)
    const model = await chat.addApp({ name: 'bare', tools_enabled: [] })
    await chat.whole({ messages: HI, tools: [clientTool('lamp')], model })
    expect(names(sent()[0])).toEqual(['lamp'])
  })

  test('a request makes eight model calls at most, the last without tools', async () => {
    const chat = await chatTenant(app)
    upstream.chat.always((request) =>
      'tools' in request.body
        ? { toolCalls: [{ name: 'current_time', arguments: {} }] }
        : { text: 'enough' },
    )
    const { body } = await chat.whole({ messages: HI, tools: [clientTool('lamp')] })
    expect(body.moonbase).toMatchObject({ stats: { iterations: 8 } })
    expect(body.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'enough' } })
  })

  test('earlier calls and results travel as they came', async () => {
    const chat = await chatTenant(app)
    const messages = [user('a'), calls('c1', 'c2'), result('c2'), result('c1')]
    const empty = { role: 'assistant', content: '' }
    await chat.whole({ messages: [user('z'), empty, ...messages], tools: [clientTool('f')] })
    expect(said().slice(1) as object[]).toEqual([user('z'), ...messages])
  })

  test('the newest eight images are sent, and a placeholder replaces each older one', async () => {
    const chat = await chatTenant(app)
    const text = (words: string) => ({ type: 'text', text: words })
    const many = [text('first'), ...Array.from({ length: 7 }, () => image(PNG))]
    const messages = [user(many), { role: 'assistant', content: 'ok' }, user(many.slice(1, 4))]
    expect((await chat.whole({ messages, session_id: '' })).status).toBe(200)
    const [, first, , second] = said()
    const shown = (count: number) =>
      Array.from({ length: count }, () => ({ type: 'image_url', image_url: { url: PNG } }))
    expect(first?.content).toEqual([text('first\n[图片]\n[图片]'), ...shown(5)])
    expect(second?.content).toEqual(shown(3))
  })
})
