import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { chatTenant, clientTool, user } from '../support/completions.ts'
import { type Failover, startFailover } from '../support/failover.ts'

let server: Failover
beforeAll(async () => {
  server = await startFailover({ MB_PUBLIC_URL: 'https://box.example/moon/' })
})
afterEach(() => server.reset())
afterAll(() => server[Symbol.asyncDispose]())

const HI = { messages: [user('hi')] }
const LAMP = clientTool('HassTurnOn')
const LAMP_CALL = { name: 'HassTurnOn', id: 'call_a', arguments: { name: 'Lampe' } }
const SUM_CALL = { name: 'calculator', arguments: { expression: '12*12' } }

const tenant = () => chatTenant(server.app)
/** What the platform's model was sent, oldest first. */
const sent = () => server.asked(server.platform).map(({ body }) => body)

describe('the frames of a streamed chat completion', () => {
  test('a plain answer is the role, the text in pieces and the end', async () => {
    const chat = await tenant()
    server.platform.reply({ pieces: ['保修期', '为两年。'] })
    const { order, text, finish, chunks } = await chat.stream(HI)
    expect([order, text, finish]).toEqual(['RCCSD', '保修期为两年。', 'stop'])
    expect(chunks[0]).toEqual({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion.chunk',
      created: expect.any(Number),
      model: 'moonbase',
      choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }],
    } as never)
    const stats = { iterations: 1, channel: 'platform' }
    expect(chunks.at(-1)).toMatchObject({ choices: [{ delta: {} }], moonbase: { stats } })
  })

  test('usage comes after the end where it is asked for, and is null before', async () => {
    const chat = await tenant()
    const { order, chunks } = await chat.stream({ ...HI, stream_options: { include_usage: true } })
    expect(order).toBe('RCSUD')
    const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }
    expect(chunks.map((chunk) => chunk.usage)).toEqual([null, null, null, usage] as never)
  })

  test('usage that no upstream reported is estimated and marked so', async () => {
    const chat = await tenant()
    server.platform.chat.always({ text: '好的', usage: null })
    const { chunks } = await chat.stream({ ...HI, stream_options: { include_usage: true } })
    expect(chunks.at(-1)?.usage?.total_tokens).toBeGreaterThan(2)
    expect(chunks.at(-2)?.moonbase).toMatchObject({ usage_estimated: true })
    const { body } = await chat.whole(HI)
    expect(body.usage.completion_tokens).toBe(2)
    expect(body.moonbase.usage_estimated).toBe(true)
    server.platform.reply({ pieces: [], finish: 'length', usage: null })
    const empty = (await chat.whole({ ...HI, max_tokens: 1 })).body
    expect(empty.choices[0]).toMatchObject({ finish_reason: 'length', message: { content: '' } })
    expect(empty.moonbase.usage_estimated).toBe(true)
  })

  test('a retrieval hit is cited once and before the text', async () => {
    const chat = await tenant()
    const created = await fetch(`${server.app.url}/v1/kb/docs`, {
      method: 'POST',
      headers: chat.headers,
      body: JSON.stringify({ title: '保修手册', text: '整机保修两年，电池保修一年。' }),
    })
    const { id } = (await created.json()) as { id: string }
    const asked = { messages: [user('整机保修两年，电池保修一年')] }
    const url = `https://box.example/moon/app/kb/${id}#0`
    const citation = { start_index: 0, end_index: 0, title: '保修手册 #0', url }
    const annotations = [{ type: 'url_citation', url_citation: citation }]
    const { order, chunks } = await chat.stream(asked)
    expect(order).toBe('RACSD')
    expect(chunks[1]).toMatchObject({
      choices: [{ delta: { annotations } }],
      moonbase: { kb_refs: [{ doc_id: id, title: '保修手册', seq: 0 }] },
    } as never)
    const { body } = await chat.whole(asked)
    expect(body.choices[0].message.annotations).toEqual(annotations)
    expect(body.moonbase).toMatchObject({ kb_refs: [{ doc_id: id, seq: 0 }] })
    const { order: without } = await chat.stream({ ...asked, kb: false })
    expect(without).toBe('RCSD')
  })

  test('a server tool shows in the extension and never as a tool call', async () => {
    const chat = await tenant()
    server.platform.reply({ pieces: ['Let me see. '], toolCalls: [SUM_CALL] })
    server.platform.reply({ text: '144' })
    const { order, text, chunks, calls } = await chat.stream({ ...HI, tools: [LAMP] })
    expect([order, text, calls]).toEqual(['RCtTCSD', 'Let me see. 144', []])
    expect(chunks.flatMap(({ moonbase }) => moonbase ?? [])).toEqual([
      { tool_call: { name: 'calculator' } },
      { tool_result: { name: 'calculator', ok: true } },
      { stats: { iterations: 2, channel: 'platform' } },
    ])
  })

  test('calls of client tools end the answer, whole and in one frame each', async () => {
    const chat = await tenant()
    const again = { ...LAMP_CALL, id: 'call_b' }
    server.platform.reply({ pieces: ['Gleich.'], toolCalls: [LAMP_CALL, again] })
    const { order, calls, finish, chunks } = await chat.stream({ ...HI, tools: [LAMP] })
    expect([order, finish]).toEqual(['RCKKSD', 'tool_calls'])
    expect(calls).toEqual(
      ['call_a', 'call_b'].map((id, index) => ({
        index,
        id,
        type: 'function',
        function: { name: 'HassTurnOn', arguments: '{"name":"Lampe"}' },
      })) as never,
    )
    expect(chunks.some(({ moonbase }) => moonbase?.tool_call)).toBe(false)
  })

  test('client calls beside server calls are dropped, and the model is asked again', async () => {
    const chat = await tenant()
    server.platform.reply({ toolCalls: [LAMP_CALL, SUM_CALL] })
    server.platform.reply({ text: '144' })
    const { order, text } = await chat.stream({ ...HI, tools: [LAMP] })
    expect([order, text]).toEqual(['RtTCSD', '144'])
    const [, second] = sent()
    expect(JSON.stringify(second?.messages)).not.toContain('HassTurnOn')
  })

  test('an answer that was cut says so', async () => {
    const chat = await tenant()
    server.platform.reply({ pieces: ['half'], finish: 'length' })
    expect((await chat.stream({ ...HI, max_tokens: 1 })).finish).toBe('length')
    server.platform.reply({ pieces: [], finish: 'content_filter' })
    expect((await chat.stream(HI)).finish).toBe('content_filter')
    server.platform.reply({ pieces: ['a'], finish: 'odd' })
    expect((await chat.stream(HI)).finish).toBe('stop')
  })
})
