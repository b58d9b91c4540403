import { describe, expect, test } from 'bun:test'
import type { Socket } from 'bun'
import { selfSigned } from '../../../test/support/certificate.ts'
import { listenRawHttp, type RawClient } from '../../../test/support/raw-http.ts'
import { ChannelFailure } from '../ports/failure.ts'
import { createUpstreamFetch, endpointHeaders, endpointUrl } from './upstream-call.ts'

const ask = createUpstreamFetch(fetch)
const POST = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":"é"}' }
const answer = (body: string, head = '') =>
  `HTTP/1.1 200 OK\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}`
const post = async (url: string) => (await ask(url, POST)).text()

test('a request asks for an uncompressed answer', async () => {
  const seen: string[] = []
  using server = listenRawHttp((socket, request) => {
    seen.push(request)
    socket.write(answer('ok'))
  })
  expect(await post(server.url)).toBe('ok')
  const [head, body] = (seen[0] ?? '').split('\r\n\r\n')
  expect(head?.toLowerCase().split('\r\n').toSorted()).toEqual([
    'accept-encoding: identity',
    'accept: */*',
    'connection: keep-alive',
    'content-length: 10',
    'content-type: application/json',
    `host: 127.0.0.1:${server.port}`,
    'post /v1/x?y=1 http/1.1',
    'user-agent: moonbase',
  ])
  expect(Buffer.from(body ?? '', 'latin1').toString()).toBe('{"a":"é"}')
})

describe('a packed answer', () => {
  for (const coding of ['br', 'gzip', 'zstd', 'deflate', 'x', 'gzip, gzip', 'identity, br']) {
    test(`an answer packed as ${coding} is a failure of the upstream`, async () => {
      using server = listenRawHttp((socket) => {
        socket.write(answer('packed', `Content-Encoding: ${coding}\r\n`))
      })
      const failure = { reason: 'provider_error', phrase: 'compressed answer', retryable: false }
      await expect(ask(server.url, POST)).rejects.toMatchObject(failure)
    })
  }

  test.each(['identity', 'Identity', ''])('an answer coded as %p is not packed', async (coding) => {
    using server = listenRawHttp((socket) => {
      socket.write(answer('as it is', `Content-Encoding: ${coding}\r\n`))
    })
    expect(await post(server.url)).toBe('as it is')
  })

  test('a packed error answer keeps its status and loses its body', async () => {
    using server = listenRawHttp((socket) => {
      socket.write('HTTP/1.1 429 Slow Down\r\nRetry-After: 3\r\nContent-Encoding: br\r\n')
      socket.write('Content-Length: 6\r\n\r\npacked')
    })
    const response = await ask(server.url, POST)
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '3'])
    expect(await response.text()).toBe('')
  })

  test('a compressed answer without an end holds no connection', async () => {
    using server = listenRawHttp((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 1000\r\n\r\npacked')
    })
    await expect(ask(server.url, POST)).rejects.toThrow('compressed answer')
    await server.gone
  })
})

describe('a kept connection', () => {
  test('a kept connection carries the next request, and the answers stay apart', async () => {
    using server = listenRawHttp((socket, _, count) => socket.write(answer(`answer ${count}`)))
    for (let n = 1; n <= 3; n += 1) expect(await post(server.url)).toBe(`answer ${n}`)
    expect(server.connections()).toBe(1)
  })

  test('a connection carries one request at a time', async () => {
    const waiting: (() => void)[] = []
    using server = listenRawHttp((socket, _, count) => {
      waiting.push(() => socket.write(answer(String(count))))
      if (waiting.length === 2) for (const go of waiting) go()
    })
    expect((await Promise.all([post(server.url), post(server.url)])).toSorted()).toEqual(['1', '2'])
    expect(server.connections()).toBe(2)
  })

  // A model server that dies while it reads the prompt must not be paid twice (RFC 9110, 9.2.2).
  for (const [end, close] of [
    ['closes', (socket: RawClient) => socket.end()],
    ['resets', (socket: RawClient) => socket.terminate()],
  ] as const) {
    test(`a POST is not sent again when the upstream ${end} a kept connection`, async () => {
      let requests = 0
      using server = listenRawHttp((socket, _, count) => {
        requests += 1
        if (count === 1) socket.write(answer('first'))
        else close(socket)
      })
      expect(await post(server.url)).toBe('first')
      await expect(ask(server.url, POST)).rejects.toThrow()
      expect([requests, server.connections()]).toEqual([2, 1])
    })
  }

  test('unrequested bytes of an upstream do not answer the next request', async () => {
    using server = listenRawHttp((socket, _, count) => {
      socket.write(answer(String(count)) + (count === 1 ? answer('stolen') : ''))
    })
    expect(await post(server.url)).toBe('1')
    expect(await post(server.url)).toBe('2')
  })
})

describe('an answer', () => {
  test('an answer that is cut gives what came, then a fault', async () => {
    const callers: RawClient[] = []
    using server = listenRawHttp((socket) => {
      callers.push(socket)
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi')
    })
    const reader = (await ask(server.url, POST)).body?.getReader()
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('hi')
    for (const caller of callers) caller.end()
    await expect(reader?.read()).rejects.toThrow()
  })

  test.each([
    ['one header', 'x-a: ', 'b'.repeat(65_536)],
    ['headers', '', `x-a: ${'b'.repeat(1_000)}\r\n`.repeat(60)],
  ])('an answer whose %s never end is given up', async (_, start, more) => {
    using server = listenRawHttp((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${start}`)
      for (let n = 0; n < 100; n += 1) socket.write(more)
    })
    await expect(ask(server.url, POST)).rejects.toThrow()
  })

  test('a redirect is an answer like any other', async () => {
    using server = listenRawHttp((socket) => {
      socket.write('HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n')
    })
    expect((await ask(server.url, { ...POST, redirect: 'follow' })).status).toBe(302)
    expect(server.connections()).toBe(1)
  })

  test('an upstream that sends faster than it is read is made to wait', async () => {
    const piece = Buffer.alloc(1024 * 1024, 'x')
    const total = 64 * piece.length
    let sent = 0
    using server = Bun.listen<undefined>({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        data(socket) {
          socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${total}\r\n\r\n`)
          push(socket)
        },
        drain: (socket) => push(socket),
      },
    })
    const stuck = Promise.withResolvers<void>()
    function push(socket: Socket<undefined>) {
      while (sent < total) {
        const want = Math.min(piece.length, total - sent)
        const taken = socket.write(piece.subarray(0, want))
        sent += taken
        if (taken < want) {
          stuck.resolve()
          return
        }
      }
    }
    const got = await ask(`http://127.0.0.1:${server.port}/`, POST)
    await stuck.promise
    // Everything that would come without being asked for has come after other requests.
    using other = listenRawHttp((socket) => socket.write(answer('x')))
    for (let n = 0; n < 20; n += 1) await post(other.url)
    expect(sent).toBeLessThan(total / 2)
    expect((await got.bytes()).length).toBe(total)
  })
})

describe('an abort', () => {
  const reason = new Error('client left')

  test('an abort while the answer is waited for ends the connection', async () => {
    const abort = new AbortController()
    using server = listenRawHttp(() => abort.abort(reason))
    await expect(ask(server.url, { ...POST, signal: abort.signal })).rejects.toBe(reason)
    await server.gone
  })

  test('an abort while the body is read ends the connection', async () => {
    const abort = new AbortController()
    using server = listenRawHttp((socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nhi'))
    const reader = (await ask(server.url, { ...POST, signal: abort.signal })).body?.getReader()
    await reader?.read()
    const reading = reader?.read()
    abort.abort(reason)
    await expect(reading).rejects.toBe(reason)
    await server.gone
  })
})

test('an upstream with an untrusted certificate gets no request', async () => {
  let asked = false
  using server = listenRawHttp(() => {
    asked = true
  }, selfSigned('localhost'))
  await expect(ask(server.url, POST)).rejects.toThrow()
  await server.gone
  expect(asked).toBe(false)
})

test('a header that would break the request apart is refused', async () => {
  using server = listenRawHttp(() => {})
  for (const headers of [{ a: 'b\r\nc: d' }, { 'a\r\nb': 'c' }, { a: 'b\0' }]) {
    await expect(ask(server.url, { headers })).rejects.toThrow()
  }
  expect(server.connections()).toBe(0)
})

test('the path of an endpoint is appended to the base URL as given', () => {
  for (const [baseUrl, url] of [
    ['http://h/v1', 'http://h/v1/models'],
    ['http://h/v1///', 'http://h/v1/models'],
    ['http://h', 'http://h/models'],
    ['https://h:8443/api/paas/v4/', 'https://h:8443/api/paas/v4/models'],
    ['https://h/openai?api-version=2#x', 'https://h/openai/models?api-version=2'],
  ] as const) {
    expect(endpointUrl({ baseUrl, apiKey: '' }, '/models')).toBe(url)
  }
})

test('an endpoint has the scheme http or https', () => {
  for (const baseUrl of ['', 'h/v1', 'ftp://h/', 'javascript:alert(1)', 'file:///etc/passwd']) {
    expect(() => endpointUrl({ baseUrl, apiKey: '' }, '/models')).toThrow(ChannelFailure)
  }
})

test('the key of an endpoint is sent unchanged, or not at all', () => {
  const headers = (apiKey: string) => endpointHeaders({ baseUrl: 'http://h', apiKey })
  expect(headers('sk-1')).toEqual({ authorization: 'Bearer sk-1' })
  expect(headers('')).toEqual({})
  for (const bad of ['a\nb', 'a\r\nx: y', 'a\0', '钥']) {
    expect(() => headers(bad)).toThrow(ChannelFailure)
  }
})
