import { describe, expect, test } from 'bun:test'
import { postSse } from './sse.ts'

const frame = (type: string, rest = '') => `event: ${type}\ndata: {"type":"${type}"${rest}}\n\n`

/** A server that streams what the test writes, and reports when the client leaves. */
function streamServer() {
  const seen: { request?: Request; body?: string } = {}
  const left = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      seen.request = request
      seen.body = await request.text()
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => opened.resolve(controller),
        cancel: () => left.resolve(),
      })
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    },
  })
  return { seen, left: left.promise, opened: opened.promise, server, url: server.url.href }
}

describe('postSse', () => {
  test('postSse gives events as they arrive, however the bytes are split', async () => {
    const { seen, opened, server, url } = streamServer()
    const pending = postSse(url, { body: { text: '你好' }, headers: { authorization: 'Bearer x' } })
    const out = await opened
    const bytes = new TextEncoder().encode(`: ping\n\n${frame('llm_delta', ',"text":"月"')}`)
    for (const byte of bytes) out.enqueue(Uint8Array.of(byte))
    const stream = await pending
    const events = stream[Symbol.asyncIterator]()
    expect((await events.next()).value?.data).toEqual({ type: 'llm_delta', text: '月' })
    expect(stream.comments).toEqual(['ping'])
    out.enqueue(new TextEncoder().encode(frame('stats') + frame('llm_end')))
    out.close()
    expect((await stream.all()).map(({ event }) => event)).toEqual([
      'llm_delta',
      'stats',
      'llm_end',
    ])
    expect(stream.status).toBe(200)
    expect(stream.headers.get('content-type')).toBe('text/event-stream')
    expect(seen.body).toBe('{"text":"你好"}')
    expect(seen.request?.headers.get('authorization')).toBe('Bearer x')
    await server.stop(true)
  })

  test('abort closes the connection of postSse', async () => {
    const { opened, left, server, url } = streamServer()
    const pending = postSse(url, { body: {} })
    const out = await opened
    out.enqueue(new TextEncoder().encode(': ping\n\n'))
    const stream = await pending
    stream.abort()
    await left
    await expect(stream.all()).rejects.toThrow()
    await server.stop(true)
  })

  test('an event whose data is no JSON object fails postSse', async () => {
    const answer = async () => new Response('data: 1\n\n')
    const stream = await postSse('http://localhost/', { body: '{', fetch: answer })
    await expect(stream.all()).rejects.toThrow('no JSON object')
  })

  test('an error body of postSse is text', async () => {
    const answer = async () => new Response('未授权', { status: 401 })
    const stream = await postSse('http://localhost/', { body: {}, fetch: answer })
    expect(stream.status).toBe(401)
    expect(await stream.text()).toBe('未授权')
  })
})
