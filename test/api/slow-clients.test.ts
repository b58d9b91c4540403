import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { systemClock } from '../../src/core/clock.ts'
import { ANSWER_STALL_MS_MAX } from '../../src/core/limits/machine.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { importManyPersonas } from '../support/many-personas.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let aheadMs = 0
/** What happens to the first list that its reader does not take. */
const stalled = Promise.withResolvers<() => void>()
let app: TestApp
let key: TestKey
let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream()
  const system = systemClock()
  const clock = {
    ...system,
    steady: () => performance.now() + aheadMs,
    after: (ms: number, task: () => void) => {
      if (ms !== ANSWER_STALL_MS_MAX) return system.after(ms, task)
      stalled.resolve(task)
      return () => {}
    },
  }
  app = await startApp({ upstream: upstream.baseUrl, clock, env: { MB_LOG_LEVEL: 'debug' } })
  key = await app.key()
})
afterEach(() => {
  aheadMs = 0
  upstream.reset()
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const TURN = { text: 'hi', kb: false, session_id: 'deaf' }

/** A client that sends a request and then reads nothing at all. */
function deaf(line: string, input?: object): Promise<Socket> {
  const body = input ? JSON.stringify(input) : ''
  const head = [
    `${line} HTTP/1.1`,
    'Host: localhost',
    `Authorization: ${key.headers.authorization}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ]
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1', () => {
      socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
      resolve(socket)
    })
    socket.on('error', () => {})
    socket.pause()
  })
}

/** An answer far larger than all buffers on the way, that goes on as long as somebody takes it. */
const endless = { pieces: Array.from({ length: 4_000 }, () => 'x'.repeat(16_384)) }

describe('a client that reads nothing', () => {
  test('a client that reads nothing loses its stream, and the upstream is closed', async () => {
    upstream.reply(endless)
    const socket = await deaf('POST /v1/agent', TURN)
    while (upstream.active() < 1) await Bun.sleep(5)
    const released = upstream.aborted()
    // Moved on until the server has noticed that the writes go nowhere.
    const hurry = setInterval(() => (aheadMs += 61_000), 100)
    await released
    clearInterval(hurry)
    socket.destroy()
  }, 60_000)

  test('a client that reads nothing of a long list is disconnected', async () => {
    await importManyPersonas(app.url, key.headers)
    const socket = await deaf('GET /v1/export')
    const disconnect = await stalled.promise
    disconnect()
    const closed = once(socket, 'close')
    let text = ''
    socket.on('data', (data) => (text += data))
    socket.resume()
    await closed
    expect(text).toStartWith('HTTP/1.1 200')
    expect(text.length).toBeLessThan(20_000_000)
  }, 60_000)
})

describe('clients that leave before a long list is read', () => {
  test('clients that leave before a long list is read release its memory', async () => {
    const before = app.log().split('/v1/export').length
    const clients = await Promise.all(Array.from({ length: 20 }, () => deaf('GET /v1/export')))
    for (const client of clients) client.destroy()
    await app.printed.until((text) => text.split('/v1/export').length === before + 20 || null)
    while (app.budget.used > 0) await Bun.sleep(5)
  }, 60_000)
})

describe('a client that is switched off after its turn', () => {
  test('the idle connection of a client that is switched off is closed', async () => {
    await using idle = await startApp({ upstream: upstream.baseUrl, idleSeconds: 4 })
    const { headers } = await idle.key()
    const body = JSON.stringify({ text: 'hi', kb: false })
    const socket = connect(Number(new URL(idle.url).port), '127.0.0.1')
    const closed = once(socket, 'close')
    let text = ''
    socket.on('data', (data) => {
      text += data
    })
    socket.write(
      `POST /v1/agent HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${headers.authorization}\r\n` +
        `Content-Length: ${body.length}\r\n\r\n${body}`,
    )
    await closed
    expect(text).toContain('llm_end')
  }, 60_000)
})

describe('a slow upload', () => {
  /** Sends a part every `everyMs`. The answer's status, or '' when the connection was closed. */
  async function upload(url: string, head: string[], parts: string[], everyMs: number) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    const closed = new Promise<void>((resolve) => socket.once('close', resolve))
    let text = ''
    socket.on('data', (data) => {
      text += data
      socket.end()
    })
    socket.on('error', () => {})
    socket.write(`${['POST', ...head].join(' ')}\r\n\r\n`)
    const left = [...parts]
    const timer = setInterval(() => {
      const part = left.shift()
      if (part !== undefined && !socket.destroyed) socket.write(part)
    }, everyMs)
    await closed
    clearInterval(timer)
    return text.split(' ')[1] ?? ''
  }

  test('a slow upload is accepted with a credential, and cut off without', async () => {
    await using slow = await startApp({ idleSeconds: 4 })
    const { headers } = await slow.key()
    const request = (path: string, credential: string, framing: string) => [
      `${path} HTTP/1.1\r\nHost: localhost\r\n${credential}${framing}`,
    ]
    const known = `Authorization: ${headers.authorization}\r\n`
    const sound = '0'.repeat(10_000)
    const sounds = Array.from({ length: 14 }, () => sound)
    const chunk = `${sound.length.toString(16)}\r\n${sound}\r\n`
    const chunks = [...Array.from({ length: 13 }, () => chunk), '0\r\n\r\n']
    const length = `Content-Length: ${sounds.length * sound.length}`
    const chunked = 'Transfer-Encoding: chunked'
    const answers = await Promise.all([
      upload(slow.url, request('/v1/asr', known, length), sounds, 600),
      upload(slow.url, request('/v1/asr', known, chunked), chunks, 600),
      upload(
        slow.url,
        request('/v1/devices/activate', '', 'Content-Length: 14'),
        [...'{"code":"1234"'],
        600,
      ),
    ])
    // Heard to the end: nobody is there to recognise it.
    expect(answers).toEqual(['502', '502', ''])
  }, 60_000)
})

describe('requests', () => {
  const post = (headers: Record<string, string>, body: BodyInit) =>
    fetch(`${app.url}/v1/agent`, {
      method: 'POST',
      headers: { ...key.headers, 'content-type': 'application/json', ...headers },
      body,
    })

  test('a compressed request body is refused, however small', async () => {
    const bomb = Bun.gzipSync(Buffer.from(JSON.stringify({ text: 'x'.repeat(10_000_000) })))
    for (const coding of ['gzip', 'br', 'zstd', 'deflate', 'gzip, gzip']) {
      const answer = await post({ 'content-encoding': coding }, bomb)
      expect(answer.status).toBe(400)
      expect(await answer.text()).toContain('Content-Encoding')
    }
    expect((await post({ 'content-encoding': 'identity' }, '{"text":"hi"}')).status).toBe(200)
  })

  test('a request with too many or too long headers is refused by the runtime', async () => {
    const socketAnswer = (head: string) =>
      new Promise<string>((resolve) => {
        let text = ''
        const socket = connect(Number(new URL(app.url).port), '127.0.0.1', () => socket.write(head))
        socket.on('data', (data) => (text += data))
        socket.on('close', () => resolve(text))
        socket.on('error', () => resolve(text))
      })
    const long = `GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(200_000)}\r\n\r\n`
    const lines = Array.from({ length: 5_000 }, (_, n) => `X-${n}: ${n}\r\n`).join('')
    const many = `GET /healthz HTTP/1.1\r\nHost: x\r\n${lines}\r\n`
    for (const head of [long, many]) expect(await socketAnswer(head)).not.toContain(' 200 ')
    expect((await fetch(`${app.url}/healthz`)).status).toBe(200)
  })
})
