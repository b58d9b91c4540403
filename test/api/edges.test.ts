import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'

let app: TestApp
let key: TestKey

beforeAll(async () => {
  app = await startApp()
  key = await app.key()
})
afterAll(() => app[Symbol.asyncDispose]())

/** Sends bytes as they are and resolves with the first line of the answer. */
function raw(text: string): Promise<string> {
  const { port } = new URL(app.url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(text))
    socket.on('data', (data) => {
      resolve(data.toString().split('\r\n')[0] ?? '')
      socket.destroy()
    })
    socket.on('close', () => resolve('closed'))
    socket.on('error', reject)
  })
}

describe('every answer', () => {
  test('every answer has a request id: a well-formed given one, else a new one', async () => {
    const given = await fetch(`${app.url}/healthz`, { headers: { 'x-request-id': 'abc_DEF-1' } })
    expect(given.headers.get('x-request-id')).toBe('abc_DEF-1')
    for (const bad of ['a b', 'x'.repeat(65), 'ü', 'a/b']) {
      const answer = await fetch(`${app.url}/healthz`, {
        headers: { 'x-request-id': Buffer.from(bad).toString('latin1') },
      })
      expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    }
    const missing = await fetch(`${app.url}/nowhere`)
    expect(missing.headers.get('x-request-id')).toBeTruthy()
  })
})

describe('paths and methods', () => {
  const table: [string, string, number, string?][] = [
    ['GET', '/nowhere', 404],
    ['GET', '/v1', 404],
    ['GET', '/v1/nowhere', 404],
    ['POST', '/v1/agent/more', 404],
    ['GET', '/v1/agent', 405, 'POST'],
    ['DELETE', '/v1/agent', 405, 'POST'],
    ['POST', '/v1/sessions/x/history', 405, 'GET'],
    ['PATCH', '/v1/sessions', 405, 'DELETE, GET'],
    ['POST', '/healthz', 405, 'GET, HEAD'],
    ['GET', '/v1/sessions/%zz/history', 200],
    ['GET', '/v1/sessions//history', 200],
    ['DELETE', '/v1/sessions/', 200],
  ]
  for (const [method, path, status, allow] of table) {
    test(`${method} ${path} is ${status}`, async () => {
      const answer = await fetch(app.url + path, { method, headers: key.headers })
      expect(answer.status).toBe(status)
      expect(answer.headers.get('allow')).toBe(allow ?? null)
      if (status < 400) return
      expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
      expect(await answer.text()).toMatch(/^\p{Script=Han}/u)
    })
  }

  test('HEAD /healthz answers without a body', async () => {
    const answer = await fetch(`${app.url}/healthz`, { method: 'HEAD' })
    expect(answer.status).toBe(200)
    expect(await answer.text()).toBe('')
  })

  test('GET /healthz is the two letters ok as text', async () => {
    const answer = await fetch(`${app.url}/healthz`)
    expect(answer.headers.get('content-type')).toStartWith('text/plain')
    expect(await answer.text()).toBe('ok')
  })
})

describe('a host name', () => {
  for (const host of ['x', 'mb', 'api', 'a.b', 'moonbase.example:3900', '[::1]:3900']) {
    test(`the Host header ${host} is not read as part of the path`, async () => {
      for (const [path, status] of Object.entries({ '/healthz': 200, '/v1/sessions': 401 })) {
        const line = await raw(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
        expect(line).toContain(` ${status} `)
      }
    })
  }
})

describe('malformed requests never give 5xx', () => {
  const hosts = ['', '[[[', 'a/b?c', '../..', 'x:99999999', 'a b', '%00', 'host:port', '@', '[::1']
  hosts.push('x:65536', '256.256.256.256', '1.2.3.4.5', '[1:2]')
  for (const host of hosts) {
    test(`a malformed Host header gives no 5xx: ${JSON.stringify(host)}`, async () => {
      for (const path of ['/healthz', '/v1/sessions', '/status', '/auth/native/authorize']) {
        const line = await raw(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
        expect(line).not.toMatch(/ 5\d\d/)
      }
    })
  }

  const targets = ['/%', '/%00', '/v1/sessions/%00/history', '//', '/\\', '/?', '/v1/../healthz']
  for (const target of targets) {
    test(`a malformed request target gives no 5xx: ${target}`, async () => {
      const line = await raw(`GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
      expect(line).not.toMatch(/ 5\d\d/)
    })
  }
})

describe('a body larger than any limit', () => {
  /** Only announced: the answer comes before the body does. */
  const announced = (path: string, more = '') =>
    raw(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n${more}\r\n`)

  test('a body over any limit is refused in the order and form of every refusal', async () => {
    const mine = `Authorization: Bearer ${key.key}\r\n`
    for (const path of ['/v1/asr', '/v1/voice', '/v1/agent', '/v1/devices']) {
      expect(await announced(path)).toContain(' 401 ')
      expect(await announced(path, mine)).toContain(' 413 ')
    }
    const { port } = new URL(app.url)
    const headers = { ...key.headers, 'content-length': 99_999_999_999 }
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const asked = httpRequest({ port, path: '/v1/asr', method: 'POST', headers }, resolve)
      asked.on('error', reject)
      asked.flushHeaders()
    })
    expect(answer.headers['x-request-id']).toBeTruthy()
    expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8')
    answer.destroy()
  })
})

describe('cross-origin calls', () => {
  test('cross-origin calls of the machine side are allowed without credentials', async () => {
    const preflight = await fetch(`${app.url}/v1/agent`, {
      method: 'OPTIONS',
      headers: { origin: 'https://page.example', 'access-control-request-method': 'POST' },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
    expect(preflight.headers.get('access-control-allow-headers')).toContain('Authorization')
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull()
    for (const headers of [key.headers, {}]) {
      const answer = await fetch(`${app.url}/v1/sessions`, { headers })
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    }
  })

  test('cross-origin calls outside the machine side are not allowed', async () => {
    const answer = await fetch(`${app.url}/healthz`, { headers: { origin: 'https://x.example' } })
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
  })
})
