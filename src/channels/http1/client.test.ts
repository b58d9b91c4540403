import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Socket } from 'bun'
import { type Caller, listenByHand } from '../../../test/support/by-hand.ts'
import { selfSigned } from '../../../test/support/certificate.ts'
import { tempFolder } from '../../../test/support/temp.ts'
import type { Answer } from '../net/endpoint.ts'
import { createHttpClient } from './client.ts'

const noFetch = () => Promise.reject(new Error('left to fetch'))
const client = () => createHttpClient({ fetch: noFetch })
const POST = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":"é"}' }

async function text(answer: Answer): Promise<string> {
  const reader = answer.body?.getReader()
  let all = ''
  while (reader) {
    const { done, value } = await reader.read()
    if (done) break
    all += Buffer.from(value).toString()
  }
  return all
}

const answer = (body: string) =>
  `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`

test('a request as it goes over the wire', async () => {
  const seen: string[] = []
  using server = listenByHand((socket, request) => {
    seen.push(request)
    socket.write(answer('ok'))
  })
  const got = await client()(server.url, POST)
  expect([got.ok, got.status, got.headers.get('content-type')]).toEqual([true, 200, 'text/plain'])
  expect(await text(got)).toBe('ok')
  const [head, body] = (seen[0] ?? '').split('\r\n\r\n')
  expect(head?.split('\r\n')).toEqual([
    'POST /v1/x?y=1 HTTP/1.1',
    `host: 127.0.0.1:${server.port}`,
    'content-type: application/json',
    'user-agent: moonbase',
    'accept: */*',
    'accept-encoding: identity',
    'content-length: 10',
  ])
  expect(Buffer.from(body ?? '', 'latin1').toString()).toBe('{"a":"é"}')
})

describe('a connection', () => {
  test('is used again, and the answers stay apart', async () => {
    using server = listenByHand((socket, _, count) => socket.write(answer(`answer ${count}`)))
    const ask = client()
    for (let i = 1; i <= 3; i += 1)
      expect(await text(await ask(server.url, POST))).toBe(`answer ${i}`)
    expect(server.connections()).toBe(1)
  })

  test('carries one request at a time', async () => {
    const waiting: (() => void)[] = []
    using server = listenByHand((socket, _, count) => {
      waiting.push(() => socket.write(answer(String(count))))
      if (waiting.length === 2) for (const go of waiting) go()
    })
    const ask = client()
    const both = await Promise.all([ask(server.url, POST), ask(server.url, POST)])
    expect((await Promise.all(both.map(text))).sort()).toEqual(['1', '2'])
    expect(server.connections()).toBe(2)
  })

  test('that was given up meanwhile is replaced, and the request sent once more', async () => {
    using server = listenByHand((socket, _, count) => {
      if (count === 2) socket.terminate()
      else socket.write(answer(String(count)))
    })
    const ask = client()
    expect(await text(await ask(server.url, POST))).toBe('1')
    expect(await text(await ask(server.url, POST))).toBe('3')
    expect(server.connections()).toBe(2)
  })

  test('that is new and closed at once is a fault', async () => {
    using server = listenByHand((socket) => socket.terminate())
    await expect(client()(server.url, POST)).rejects.toThrow()
    expect(server.connections()).toBe(1)
  })

  test('is not used again after more than was asked for', async () => {
    const stray = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen'
    using server = listenByHand((socket, _, count) => {
      socket.write(answer(String(count)) + (count === 1 ? stray : ''))
    })
    const ask = client()
    expect(await text(await ask(server.url, POST))).toBe('1')
    expect(await text(await ask(server.url, POST))).toBe('2')
    expect(server.connections()).toBe(2)
  })

  test('that speaks up by itself is not used again', async () => {
    const held: Caller[] = []
    using server = listenByHand((socket, _, count) => {
      held.push(socket)
      socket.write(answer(String(count)))
    })
    const ask = client()
    expect(await text(await ask(server.url, POST))).toBe('1')
    held[0]?.write(answer('stolen'))
    held[0]?.flush()
    await server.gone
    expect(await text(await ask(server.url, POST))).toBe('2')
  })

  test('is closed when its answer is not wanted to the end', async () => {
    using server = listenByHand((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi`),
    )
    const got = await client()(server.url, POST)
    const reader = got.body?.getReader()
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('hi')
    await reader?.cancel()
    await server.gone
  })
})

describe('an answer that is cut', () => {
  test('in the middle of its body gives what came, then a fault', async () => {
    using server = listenByHand((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi')
      socket.end()
    })
    const reader = (await client()(server.url, POST)).body?.getReader()
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('hi')
    await expect(reader?.read()).rejects.toThrow('connection closed in the middle')
  })

  test('in the middle of its head is a fault', async () => {
    using server = listenByHand((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nConte')
      socket.end()
    })
    await expect(client()(server.url, POST)).rejects.toThrow('connection closed in the middle')
  })
})

describe('an abort', () => {
  const reason = new Error('enough')

  test('before anything is sent', async () => {
    using server = listenByHand(() => {})
    const signal = AbortSignal.abort(reason)
    await expect(client()(server.url, { ...POST, signal })).rejects.toBe(reason)
    expect(server.connections()).toBe(0)
  })

  test('while the head is waited for', async () => {
    const abort = new AbortController()
    using server = listenByHand(() => abort.abort(reason))
    const asking = client()(server.url, { ...POST, signal: abort.signal })
    await expect(asking).rejects.toBe(reason)
    await server.gone
  })

  test('while the body is read, even one that only the end of the connection ends', async () => {
    const abort = new AbortController()
    using server = listenByHand((socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nhi'))
    const got = await client()(server.url, { ...POST, signal: abort.signal })
    const reader = got.body?.getReader()
    await reader?.read()
    const reading = reader?.read()
    abort.abort(reason)
    await expect(reading).rejects.toBe(reason)
    await server.gone
    await expect(reader?.read()).rejects.toBe(reason)
  })
})

test('a body larger than any buffer is sent whole', async () => {
  const body = 'x'.repeat(8 * 1024 * 1024)
  using server = listenByHand((socket, request) => socket.write(answer(String(request.length))))
  const got = await text(await client()(server.url, { ...POST, body }))
  expect(Number(got)).toBeGreaterThan(body.length)
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
  const got = await client()(`http://127.0.0.1:${server.port}/`, POST)
  await stuck.promise
  // Everything that would come without being asked for has come after another exchange.
  using other = listenByHand((socket) => socket.write(answer('x')))
  for (let i = 0; i < 20; i += 1) await text(await client()(other.url, POST))
  expect(sent).toBeLessThan(total / 2)
  expect((await text(got)).length).toBe(total)
})

describe('a secured upstream', () => {
  test('whose certificate nobody vouches for gets no request', async () => {
    let asked = false
    using server = listenByHand(() => {
      asked = true
    }, selfSigned('localhost'))
    await expect(client()(server.url, POST)).rejects.toThrow()
    await server.gone
    expect(asked).toBe(false)
  })

  // Whom to trust besides is read once, when a process begins.
  test('is asked by the name that its certificate has, and by no other', async () => {
    const certificate = selfSigned('localhost')
    using server = listenByHand((socket) => socket.write(answer('ok')), certificate)
    using folder = tempFolder()
    const trusted = join(folder.path, 'ca.pem')
    await Bun.write(trusted, certificate.cert)
    const script = `
      const { createHttpClient } = await import('${join(import.meta.dir, 'client.ts')}')
      const ask = createHttpClient({ fetch })
      const tried = process.argv.slice(1).map((url) =>
        ask(url, {}).then(({ status }) => status, () => 'refused'))
      console.log(JSON.stringify(await Promise.all(tried)))`
    const urls = ['localhost', '127.0.0.1'].map((host) => `https://${host}:${server.port}/`)
    const asking = Bun.spawn([process.execPath, '-e', script, ...urls], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: trusted },
    })
    expect(await new Response(asking.stdout).json()).toEqual([200, 'refused'])
    expect(await asking.exited).toBe(0)
  })
})

describe('what is left to fetch', () => {
  const cases: [string, string, RequestInit][] = [
    ['an address with a name and password', 'http://u:p@127.0.0.1:1/', POST],
    ['a form', 'http://127.0.0.1:1/', { method: 'POST', body: new FormData() }],
    ['headers of another kind', 'http://127.0.0.1:1/', { headers: new Headers({ a: 'b' }) }],
    ['another method', 'http://127.0.0.1:1/', { method: 'DELETE' }],
  ]
  for (const [name, url, init] of cases) {
    test(name, () => expect(client()(url, init)).rejects.toThrow('left to fetch'))
  }
})

test('a header that would break the request apart is refused', async () => {
  using server = listenByHand(() => {})
  for (const headers of [{ a: 'b\r\nc: d' }, { 'a\r\nb': 'c' }, { a: 'b\0' }]) {
    await expect(client()(server.url, { headers })).rejects.toThrow('invalid header')
  }
  expect(server.connections()).toBe(0)
})

test('an answer that is compressed although nobody asked for it', async () => {
  const packed = Buffer.from(Bun.gzipSync('hello hello')).toString('latin1')
  using server = listenByHand((socket) => {
    const length = `Content-Length: ${packed.length}`
    const head = `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n${length}\r\n\r\n`
    socket.write(Buffer.from(head + packed, 'latin1'))
  })
  expect(await text(await client()(server.url, POST))).toBe('hello hello')
  using odd = listenByHand((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Encoding: x\r\nContent-Length: 1\r\n\r\nx')
  })
  await expect(client()(odd.url, POST)).rejects.toThrow('unknown content coding')
})

test('a redirect is an answer like any other', async () => {
  using server = listenByHand((socket) =>
    socket.write(
      'HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n',
    ),
  )
  const got = await client()(server.url, POST)
  expect([got.ok, got.status, await text(got)]).toEqual([false, 302, ''])
})
