import { expect, test } from 'bun:test'
import { connect } from 'node:net'
import { startApp } from '../support/app.ts'
import { postSse } from '../support/sse.ts'

const lines = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.includes('"event":"request"'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)

test('at log level debug each request has a line with its id and no content', async () => {
  await using app = await startApp({ env: { MB_LOG_LEVEL: 'debug' } })
  const { headers, key, tenantId } = await app.key()
  const asked = { ...headers, 'x-request-id': 'my-request-1' }
  const body = { text: 'my private words', session_id: 'my-private-session' }
  await (await postSse(`${app.url}/v1/agent`, { headers: asked, body })).all()
  await fetch(`${app.url}/v1/sessions/my-private-session/history?q=private`, { headers })
  await fetch(`${app.url}/v1/sessions`)
  const log = await app.printed.until((text) => (lines(text).length >= 3 ? text : null))
  expect(lines(log)).toMatchObject([
    { id: 'my-request-1', method: 'POST', route: '/v1/agent', status: 200, tenant: tenantId },
    { method: 'GET', route: '/v1/sessions/:id/history', status: 200, tenant: tenantId },
    { method: 'GET', route: '/v1/sessions', status: 401, error: 'unauthorized' },
  ])
  expect(log).not.toContain('private')
  expect(log).not.toContain(key)
})

test('a request without a route is logged, and the server keeps running', async () => {
  await using app = await startApp({ env: { MB_LOG_LEVEL: 'debug' } })
  const asked: [string, string, number][] = [
    ['GET', '/nowhere', 404],
    ['POST', '/healthz', 405],
    ['PROPFIND', '/v1/agent', 405],
  ]
  for (const [method, path, status] of asked) {
    expect((await fetch(app.url + path, { method })).status).toBe(status)
  }
  const log = await app.printed.until((text) => (lines(text).length >= 3 ? text : null))
  expect(lines(log).map(({ route, status }) => [route, status])).toEqual([
    ['unmatched', 404],
    ['unmatched', 405],
    ['unmatched', 405],
  ])
})

test('a client that leaves in the middle of its body is not logged as an error', async () => {
  await using app = await startApp({ env: { MB_LOG_LEVEL: 'debug' } })
  const { key, headers } = await app.key()
  for (const framing of ['Content-Length: 100', 'Transfer-Encoding: chunked']) {
    const head = ['POST /v1/tts HTTP/1.1', 'Host: localhost', `Authorization: Bearer ${key}`]
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
    socket.write(`${[...head, framing].join('\r\n')}\r\n\r\n1\r\n{`, () => socket.destroy())
  }
  const log = await app.printed.until((text) => (lines(text).length >= 2 ? text : null))
  expect(lines(log).map(({ status }) => status)).toEqual([400, 400])
  expect(log).not.toContain('request failed')
  const answer = await fetch(`${app.url}/v1/logs`, { headers })
  const { logs } = (await answer.json()) as { logs: { error_class: string }[] }
  expect(logs.map((row) => row.error_class)).toEqual(['bad_request', 'bad_request'])
})

test('at the default log level requests leave no line', async () => {
  await using app = await startApp()
  await fetch(`${app.url}/healthz`)
  await fetch(`${app.url}/v1/sessions`)
  expect(lines(app.log())).toEqual([])
})
