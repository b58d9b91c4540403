import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { HumanMessage } from '@langchain/core/messages'
import { tool as langChainTool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { generateText, stepCountIs, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { z } from 'zod'
import { startApp, type TestApp } from '../support/app.ts'
import { chatTenant, completions } from '../support/completions.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
let apiKey: string
let baseURL: string
beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl })
  const chat = await chatTenant(app)
  await chat.addApp({ name: '客服助手' })
  apiKey = chat.key
  baseURL = `${app.url}/v1`
  const created = await fetch(`${baseURL}/kb/docs`, {
    method: 'POST',
    headers: chat.headers,
    body: JSON.stringify({ title: '保修手册', text: '整机保修两年，电池保修一年。' }),
  })
  expect(created.status).toBe(201)
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

/** Finds the document, so that each stream has the frames of a citation, too. */
const QUESTION = '整机保修两年，电池保修一年，对吗？'
const messages = [{ role: 'user' as const, content: QUESTION }]
const LAMP = { toolCalls: [{ name: 'lamp', arguments: { room: 'kitchen' } }] }
/** The result of the client's tool as the model got it. */
const resultSent = () => JSON.stringify(upstream.requests.at(-1)?.body.messages.at(-1))

describe("OpenAI's own client", () => {
  const client = () => new OpenAI({ apiKey, baseURL, maxRetries: 0 })
  const model = 'moonbase'

  test("OpenAI's client lists models and finds one by its name", async () => {
    const listed = (await client().models.list()).data.map(({ id }) => id)
    expect(listed).toEqual(['moonbase', '客服助手'])
    expect((await client().models.retrieve('客服助手')).id).toBe('客服助手')
  })

  test("OpenAI's client reads whole answers", async () => {
    const answer = await client().chat.completions.create({ model, messages })
    expect(answer.choices[0]?.message.content).toBe('好的')
    expect(answer.choices[0]?.message.annotations?.[0]?.url_citation.title).toBe('保修手册 #0')
    expect(answer.usage?.total_tokens).toBe(18)
  })

  test("OpenAI's client reads streams chunk by chunk", async () => {
    upstream.reply({ pieces: ['保', '修'] })
    const options = { stream: true, stream_options: { include_usage: true } } as const
    const stream = await client().chat.completions.create({ model, messages, ...options })
    let text = ''
    let tokens = 0
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? ''
      tokens += chunk.usage?.total_tokens ?? 0
    }
    expect([text, tokens]).toEqual(['保修', 18])
  })

  test("the stream helper of OpenAI's client puts the chunks together", async () => {
    upstream.reply({ pieces: ['Gleich.'], ...LAMP })
    const tools = [{ type: 'function' as const, function: { name: 'lamp', parameters: {} } }]
    const { choices } = await client()
      .chat.completions.stream({ model, messages, tools })
      .finalChatCompletion()
    expect(choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: 'Gleich.', tool_calls: [{ function: { name: 'lamp' } }] },
    })
  })

  test.each([false, true])(
    "OpenAI's client runs a tool of its caller, streamed: %p",
    async (stream) => {
      upstream.reply(LAMP)
      upstream.reply({ text: 'It is on.' })
      const run = async ({ room }: { room: string }) => `${room} is lit`
      const runner = client().chat.completions.runTools({
        model,
        messages,
        stream: stream as false,
        tools: [
          {
            type: 'function',
            function: { name: 'lamp', function: run, parse: JSON.parse, parameters: {} },
          },
        ],
      } as never)
      expect(await runner.finalContent()).toBe('It is on.')
      expect(resultSent()).toContain('kitchen is lit')
    },
  )

  test("OpenAI's client throws what a stream says went wrong", async () => {
    upstream.fault('cut', { after: 1 })
    const read = async () => {
      const stream = await client().chat.completions.create({ model, messages, stream: true })
      for await (const _ of stream);
    }
    const error = await read().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ type: 'upstream_error', code: 'provider_error' })
  })
})

describe('the AI SDK', () => {
  const model = () =>
    createOpenAICompatible({ name: 'moonbase', apiKey, baseURL, includeUsage: true })('moonbase')
  const lamp = tool({
    inputSchema: z.object({ room: z.string() }),
    execute: async ({ room }) => `${room} is lit`,
  })

  test('the AI SDK reads whole answers, with the tools of its caller', async () => {
    upstream.reply(LAMP)
    upstream.reply({ text: 'It is on.' })
    const options = { model: model(), tools: { lamp }, stopWhen: stepCountIs(3) }
    const { text, steps } = await generateText({ ...options, prompt: QUESTION })
    expect([text, steps.length]).toEqual(['It is on.', 2])
    expect(resultSent()).toContain('kitchen is lit')
  })

  test('the AI SDK reads streams, with server tools and tools of its caller', async () => {
    upstream.reply({ toolCalls: [{ name: 'current_time', arguments: {} }] })
    upstream.reply(LAMP)
    upstream.reply({ pieces: ['It ', 'is on.'] })
    const stopWhen = stepCountIs(3)
    const answer = streamText({ model: model(), tools: { lamp }, stopWhen, prompt: QUESTION })
    let text = ''
    for await (const piece of answer.textStream) text += piece
    expect([text, await answer.finishReason]).toEqual(['It is on.', 'stop'])
    expect((await answer.totalUsage).outputTokens).toBe(21)
    expect(resultSent()).toContain('kitchen is lit')
  })
})

describe('LangChain', () => {
  const chat = () =>
    new ChatOpenAI({ apiKey, model: 'moonbase', maxRetries: 0, configuration: { baseURL } })
  const lamp = langChainTool(async ({ room }: { room: string }) => `${room} is lit`, {
    name: 'lamp',
    description: 'Turns on a lamp.',
    schema: z.object({ room: z.string() }),
  })

  test('LangChain reads whole answers', async () => {
    const answer = await chat().invoke([new HumanMessage(QUESTION)])
    expect(answer).toMatchObject({ text: '好的', usage_metadata: { total_tokens: 18 } } as object)
  })

  test('LangChain reads streams, with tools of its caller', async () => {
    upstream.reply(LAMP)
    const calls: { name: string; args: unknown }[] = []
    for await (const chunk of await chat().bindTools([lamp]).stream(QUESTION)) {
      calls.push(...(chunk.tool_calls ?? []))
    }
    expect(calls).toMatchObject([{ name: 'lamp', args: { room: 'kitchen' } }])
  })
})

interface Recorded {
  readonly what: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
}

/** Requests as the sources of these programs of the named versions make them. */
const RECORDED = ['open-webui-0.11', 'librechat-0.8', 'home-assistant-2026.11']

describe.each(RECORDED)('the requests of %s', (name) => {
  const requests = require(`../fixtures/chat-requests/${name}.json`) as readonly Recorded[]
  const fields = ['response_format', 'temperature', 'top_p', 'presence_penalty']

  test.each(requests.map((request) => [request.what, request] as const))(
    `the requests of ${name} are answered and passed on: %s`,
    async (_, { headers, body }) => {
      const chat = completions(app.url, { authorization: `Bearer ${apiKey}` })
      if (body.stream) expect((await chat.stream(body, headers)).order).toMatch(/^RA?CSU?D$/)
      else expect((await chat.whole(body, headers)).body.choices[0].finish_reason).toBe('stop')
      const sent = upstream.requests.at(-1)?.body
      for (const field of fields) expect(sent?.[field]).toEqual(body[field])
      const names = JSON.stringify(sent?.tools ?? [])
      for (const { function: given } of (body.tools ?? []) as { function: { name: string } }[]) {
        expect(names).toContain(given.name)
      }
    },
  )
})
