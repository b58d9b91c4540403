import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { type Failover, startFailover } from '../support/failover.ts'
import { messagesOf } from '../support/messages.ts'
import { pdfFile } from '../support/pdf-file.ts'

let server: Failover
beforeAll(async () => {
  server = await startFailover()
})
afterEach(() => server.reset())
afterAll(() => server[Symbol.asyncDispose]())

const HI = { messages: [{ role: 'user', content: 'hi' }] }
const sent = () => server.asked(server.platform).map(({ body }) => body)
const tool = (name: string) => ({ name, input_schema: { type: 'object', properties: {} } })

async function client() {
  const key = await server.app.key()
  return { key, chat: messagesOf(server.app, key), sdk: sdkOf(key.key) }
}
const sdkOf = (apiKey: string) =>
  new Anthropic({ apiKey, authToken: null, baseURL: server.app.url, maxRetries: 0 })

describe('messages by the SDK of Anthropic', () => {
  test('a plain message has text, model, usage and the reason to stop', async () => {
    const { sdk } = await client()
    server.platform.reply({ text: '你好' })
    const message = await sdk.messages.create({ ...HI, model: 'claude-x', max_tokens: 9 } as never)
    // Other clients read the answer by a schema that takes no null here.
    expect(message.content).toEqual([{ type: 'text', text: '你好' }] as never)
    expect(message).toMatchObject({
      id: expect.stringMatching(/^msg_/),
      type: 'message',
      role: 'assistant',
      model: 'moonbase',
      stop_reason: 'end_turn',
      content: [{ type: 'text', text: '你好' }],
      usage: { input_tokens: 11, output_tokens: 7 },
      _request_id: expect.any(String),
    } as never)
    expect(sent()[0]).toMatchObject({ max_tokens: 9 })
  })

  test('the helper of streams puts the same message together', async () => {
    const { sdk } = await client()
    server.platform.reply({ pieces: ['你', '好'] })
    const stream = sdk.messages.stream({ ...HI, model: 'x-claude', max_tokens: 9 } as never)
    expect(await stream.finalText()).toBe('你好')
    expect((await stream.finalMessage()).usage.input_tokens).toBe(11)
  })

  test('tools go round twice and their results come back in order', async () => {
    const { sdk } = await client()
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'weather?' }]
    for (const round of [1, 2]) {
      server.platform.reply({
        toolCalls: [{ name: 'look', id: `c${round}`, arguments: { round } }],
      })
      const tools = [tool('look')] as Anthropic.Tool[]
      const answer = await sdk.messages.create({ model: '', max_tokens: 9, messages, tools })
      expect(answer.stop_reason).toBe('tool_use')
      expect(answer.content).toEqual([
        { type: 'tool_use', id: `c${round}`, name: 'look', input: { round } } as never,
      ])
      messages.push({ role: 'assistant', content: answer.content })
      messages.push({
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: `c${round}`, content: `sun ${round}` }],
      })
    }
    await sdk.messages.create({ model: '', max_tokens: 9, messages })
    expect(sent().at(-1)?.messages.slice(1)).toMatchObject([
      { role: 'user', content: 'weather?' },
      { role: 'assistant', tool_calls: [{ id: 'c1' }] },
      { role: 'tool', tool_call_id: 'c1', content: 'sun 1' },
      { role: 'assistant', tool_calls: [{ id: 'c2' }] },
      { role: 'tool', tool_call_id: 'c2', content: 'sun 2' },
    ])
  })

  test('a tool runner whose server shall hold the thread sends its history again', async () => {
    const { chat } = await client()
    const { status, body, response } = await chat.whole({ ...HI, thread: { type: 'create' } })
    expect([status, body.error.details]).toEqual([
      400,
      { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
    ])
    expect(body.request_id).toBe(response.headers.get('request-id'))
    expect(sent()).toEqual([])
    expect((await chat.whole({ ...HI, thread: null })).status).toBe(200)
  })

  test('an image and a PDF are read, and bytes that are none are refused', async () => {
    const { chat } = await client()
    const data = 'iVBORw0KGgo='
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }
    const pdf = (bytes: Uint8Array) => ({
      type: 'document',
      source: {
        type: 'base64',
        media_type: 'application/pdf',
        data: Buffer.from(bytes).toString('base64'),
      },
    })
    const paper = pdf(pdfFile([{ lines: ['Moons of Jupiter'] } as never]))
    const say = { type: 'text', text: 'what is it?' }
    const { status } = await chat.whole({
      messages: [{ role: 'user', content: [image, paper, say] }],
    })
    expect(status).toBe(200)
    const content = (sent()[0]?.messages[1]?.content ?? []) as { text: string }[]
    const [text, picture] = content
    expect(text?.text).toMatch(/Moons of Jupiter[\s\S]*what is it\?/)
    expect(picture).toEqual({
      type: 'image_url',
      image_url: { url: `data:image/png;base64,${data}` },
    } as never)
    const broken = { messages: [{ role: 'user', content: [pdf(Buffer.from('no pdf')), say] }] }
    expect((await chat.whole(broken)).status).toBe(400)
    const file = { ...image, source: { type: 'file', file_id: 'f' } }
    expect((await chat.whole({ messages: [{ role: 'user', content: [file, say] }] })).status).toBe(
      400,
    )
  })
})

describe('the events of a streamed message', () => {
  test('thinking, text and calls are blocks one after another', async () => {
    const { chat } = await client()
    const call = { name: 'look', id: 'c', arguments: { at: 'sky' } }
    server.platform.reply({ reasoning: 'hm, so', text: 'I look', toolCalls: [call] })
    const asked = { ...HI, tools: [tool('look')], thinking: { type: 'adaptive' } }
    const { events, word, response } = await chat.stream(asked)
    expect(response.headers.get('content-type')).toStartWith('text/event-stream')
    expect(word).toMatch(/^MP\[\.+\]\[\.+\]\[\.\]DS$/)
    const blocks = events.filter(({ type }) => type === 'content_block_start')
    expect(blocks.map(({ content_block }) => content_block)).toEqual([
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'text', text: '' },
      { type: 'tool_use', id: 'c', name: 'look', input: {} },
    ])
    expect(
      events.find(({ delta }) => (delta as { type?: string })?.type === 'signature_delta'),
    ).toMatchObject({ index: 0, delta: { signature: 'moonbase' } })
    const [start] = events as never as { message: { usage: { input_tokens: number } } }[]
    const { input_tokens } = await chat.count({ ...HI, tools: [tool('look')] })
    expect(start?.message.usage.input_tokens).toBe(input_tokens)
    expect(events.at(-2)).toMatchObject({
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { input_tokens: 11, output_tokens: 7 },
      moonbase: { stats: { iterations: 1, channel: 'platform' } },
    })
  })

  test('an answer cut before its first word is an empty text', async () => {
    const { chat } = await client()
    server.platform.reply({ pieces: [], finish: 'length' })
    expect((await chat.whole(HI)).body).toMatchObject({
      content: [{ type: 'text', text: '' }],
      stop_reason: 'max_tokens',
    })
    server.platform.reply({ pieces: [], finish: 'length' })
    expect((await chat.stream(HI)).word).toBe('MP[]DS')
  })

  test('an answer that breaks off ends with an error and not with a stop', async () => {
    const { chat } = await client()
    server.platform.fault('cut', { after: 2 })
    const { events, word, response } = await chat.stream(HI)
    expect([response.status, word.at(-1)]).toEqual([200, 'E'])
    expect(events.at(-1)).toMatchObject({ error: { type: 'api_error' } })
  })
})
