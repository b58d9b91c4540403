import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { LogsResponse } from '../../src/features/logs/model.ts'
import type { UsageResponse } from '../../src/features/usage/model.ts'
import { caller } from '../support/api.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { tone, wav } from '../support/recordings.ts'
import { allRoutes, type Route } from '../support/routes.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
beforeAll(async () => {
  upstream = await startUpstream()
  const { baseUrl } = upstream
  app = await startApp({
    upstream: baseUrl,
    env: { MB_ASR_BASE_URL: baseUrl, MB_TTS_BASE_URL: baseUrl },
  })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

/** What carries neither body nor, for activation, a key. */
const BARE = [
  ...['/v1/devices/:id/recode', '/v1/provider/test', '/v1/devices/activate'],
  ...['/v1/kb/sources/:id/refresh', '/v1/mcp-servers/:id/refresh', '/v1/files/:id/refresh'],
  ...['/v1/apps/:id/shares/:share/rotate', '/v1/runs/:id/cancel', '/v1/schedules/:id/run'],
  ...['/v1/webhooks/:id/rotate', '/v1/webhooks/:id/test'],
]
const FORM_TYPE = 'multipart/form-data; boundary=x'
const FORMS = ['/v1/kb/files', '/v1/files', '/v1/audio/transcriptions']
const ROUTES = allRoutes().filter(
  ({ method, path }) =>
    path.startsWith('/v1/') && /^(POST|PUT)$/.test(method) && !BARE.includes(path),
)
const person = async () => caller(`${app.url}/console`, (await app.person()).headers)
const calls = async () => (await (await person())<UsageResponse>('GET', '/usage')).json().total
const revoke = async ({ id }: TestKey) =>
  expect((await (await person())('DELETE', `/keys/${id}`)).status).toBe(200)
const logged = async () =>
  (await (await person())<LogsResponse>('GET', '/logs')).json().logs.map(({ status }) => status)

/** Sends a request whose body ends only after `meanwhile`; gives the status of the answer. */
async function late({ method, path }: Route, key: TestKey, meanwhile: () => Promise<void>) {
  const before = await calls()
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
  const head = [
    `${method} ${path.replaceAll(/:\w+/g, 'x')} HTTP/1.1`,
    'Host: localhost',
    `Authorization: ${key.headers.authorization}`,
    `Content-Type: ${FORMS.includes(path) ? FORM_TYPE : 'application/json'}`,
    'Content-Length: 2',
    'Connection: close',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n{`)
  // Counted means let in.
  while ((await calls()) === before) await Bun.sleep(2)
  await meanwhile()
  const answer = once(socket, 'data')
  socket.write('}')
  const [data] = await answer
  socket.destroy()
  return Number(String(data).split(' ')[1])
}

describe('a key that is revoked while the body is on its way', () => {
  test.each(ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const))(
    '%s is refused when its key is revoked while the body arrives',
    async (_, route) => {
      const device = route.path.endsWith('/heartbeat') ? { deviceId: 'd' } : {}
      const key = await app.key(undefined, device)
      expect(await late(route, key, () => revoke(key))).toBe(401)
    },
  )

  test('every route with a body is tested with a key that is revoked meanwhile', () =>
    expect(ROUTES.length).toBeGreaterThan(14))
})

test('a key that is revoked during recognition gets no turn', async () => {
  const key = await app.key()
  const heard = Promise.withResolvers<void>()
  upstream.transcriptions.reply({ text: '你好', hold: heard.promise })
  const audio_b64 = Buffer.from(wav(16_000, tone(16_000, 0.5))).toString('base64')
  const answer = caller(app.url, key.headers)('POST', '/v1/voice', { audio_b64 })
  await upstream.nextRequest('/audio/transcriptions')
  await revoke(key)
  heard.resolve()
  expect((await answer).status).toBe(401)
  expect(upstream.requests.filter(({ path }) => path === '/chat/completions')).toEqual([])
})

test('a key that is revoked while a model answers gets no spoken reply', async () => {
  const key = await app.key()
  upstream.reset()
  upstream.reply({ pieces: ['one ', 'two'], hold: { after: 1, until: new Promise(() => {}) } })
  const audio_b64 = Buffer.from(wav(16_000, tone(16_000, 0.5))).toString('base64')
  const answer = caller(app.url, key.headers)('POST', '/v1/voice', { audio_b64 })
  await upstream.nextRequest('/chat/completions')
  await revoke(key)
  expect((await answer).status).toBe(401)
  expect(upstream.requests.filter(({ path }) => path === '/audio/speech')).toEqual([])
})

test('the request log has no 401, even for a key revoked during the request', async () => {
  expect(await logged()).not.toContain(401)
})
