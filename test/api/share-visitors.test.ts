import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { buildWeb } from '../../scripts/build-web.ts'
import { caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'
import { type Share, startShare, visitor } from '../support/shares.ts'
import type { SseStream } from '../support/sse.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const SITE = 'https://shop.example'
const SESSION = `share-${'a'.repeat(32)}`
const clock = fakeClock()
let upstream: Upstream
let app: TestApp
let visitors = 0

beforeAll(async () => {
  await buildWeb(join(import.meta.dir, '../../dist/web'))
  upstream = await startUpstream()
  upstream.chat.always({ text: '您好' })
  const embedder = { MB_EMBED_BASE_URL: upstream.baseUrl, MB_EMBED_MODEL: 'fake-embed' }
  const env = { MB_TRUST_PROXY: '1', ...embedder }
  app = await startApp({ clock, upstream: upstream.baseUrl, env })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const shared = (body: object = {}, appBody: object = {}) => startShare(app, body, appBody)

/** A visitor at an address of their own, whose turns nobody else uses up. */
function newVisitor() {
  visitors += 1
  return visitor(app, `203.0.113.${visitors}`)
}

const eventsOf = async (stream: SseStream) => (await stream.all()).map(({ data }) => data)

describe('a visitor', () => {
  test('a visitor talks to the app, in a session of their own', async () => {
    const visit = newVisitor()
    const { call, share, appId, headers } = await shared({}, { system_prompt: 'SYSTEM-OF-APP' })
    upstream.requests.length = 0
    const body = { text: '记住 42', session_id: SESSION }
    const events = await eventsOf(await visit(share.token, body))
    expect(events.map(({ type }) => type)).toEqual(['llm_delta', 'llm_end'])
    expect(events.at(-1)).toEqual({ type: 'llm_end', reply: '您好', seq: 1 })
    await eventsOf(await visit(share.token, { text: '多少？', session_id: SESSION }))
    const asked = upstream.requests.filter(({ path }) => path === '/chat/completions').at(-1)
    expect(JSON.stringify(asked?.body)).toContain('记住 42')
    expect(JSON.stringify(asked?.body)).toContain('SYSTEM-OF-APP')
    const { sessions } = (
      await call<{ sessions: { id: string; app_id: string }[] }>('GET', '/console/sessions')
    ).json()
    expect(sessions).toEqual([
      expect.objectContaining({ id: expect.stringMatching(/^share-/), app_id: appId }),
    ])
    expect(headers.cookie).toBeTruthy()
  })

  test('a visitor changes nothing by fields of other doors', async () => {
    const visit = newVisitor()
    const { share } = await shared({}, { system_prompt: 'SYSTEM-OF-APP' })
    upstream.requests.length = 0
    const images = ['https://example.com/a.png']
    const more = { persona: 'EVIL', persona_id: 'p', images, app_id: null, replace_last: true }
    await eventsOf(await visit(share.token, { text: 'x', session_id: SESSION, ...more }))
    const asked = JSON.stringify(upstream.requests.map(({ body }) => body))
    expect(asked).not.toContain('EVIL')
    expect(asked).not.toContain('a.png')
    expect(asked).toContain('SYSTEM-OF-APP')
  })

  test('a visitor reaches no session of a key, a person, a device or another share', async () => {
    const visit = newVisitor()
    const { call, share, at, email } = await shared()
    const key = caller(`${app.url}/v1`, (await app.key(email)).headers)
    const say = (text: string, session_id: string) => key('POST', '/agent', { text, session_id })
    await say('SECRET-OF-KEY', SESSION)
    await call('POST', '/console/agent', { text: 'SECRET-OF-PERSON', session_id: SESSION })
    const other = (await call<Share>('POST', at, { name: 'other' })).json()
    await eventsOf(await visit(other.token, { text: 'SECRET-OF-SHARE', session_id: SESSION }))
    upstream.requests.length = 0
    await eventsOf(await visit(share.token, { text: 'x', session_id: SESSION }))
    expect(JSON.stringify(upstream.requests.map(({ body }) => body))).not.toContain('SECRET')
    // Nor one whose stored name they have learned.
    const { sessions } = (
      await call<{ sessions: { id: string }[] }>('GET', '/console/sessions')
    ).json()
    for (const { id } of sessions) {
      upstream.requests.length = 0
      await (await visit(share.token, { text: 'y', session_id: id })).text()
      expect(JSON.stringify(upstream.requests.map(({ body }) => body))).not.toContain('SECRET')
    }
  })

  test.each(['anon', '', 'share-', 'share-../../x', `share-${'a'.repeat(101)}`, 5])(
    'a visitor cannot name the session %j',
    async (session_id) => {
      const visit = newVisitor()
      const { share } = await shared()
      const answer = await visit(share.token, { text: 'x', session_id })
      expect([answer.status, answer.headers.get('x-error-code')]).toEqual([400, 'share_session'])
    },
  )

  test('a visitor learns what the answer cites, and no id, score, tool or channel', async () => {
    const visit = newVisitor()
    const { call, share } = await shared()
    const doc = { title: '保修手册', text: '保修期为两年。'.repeat(3) }
    const { id } = (await call<{ id: string }>('POST', '/console/kb/docs', doc)).json()
    await call('POST', '/console/kb/docs', { title: '保修附录', text: `${doc.text}附录。` })
    upstream.reply({ toolCalls: [{ name: 'current_time', arguments: '{}' }] })
    upstream.reply({ text: '两年 [1]，见 [7]、[1]。' })
    const stream = await visit(share.token, { text: doc.text })
    const events = await eventsOf(stream)
    const text = JSON.stringify(stream.events)
    const titles = ['保修手册', '保修附录'].map((title) => ({ title, page: null }))
    expect(events[0]).toEqual({ type: 'sources', sources: titles })
    const passage = { number: 1, ...titles[0], heading: null, text: doc.text }
    const passages = events.filter(({ type }) => type === 'passages')
    expect(passages).toEqual([{ type: 'passages', passages: [passage] }])
    expect(text).not.toContain(id)
    expect(text).not.toContain('附录。')
    expect(text).not.toMatch(/score|current_time|tokens|channel|iterations|doc_id/)
  })

  test('a visitor is told nothing of why a model failed', async () => {
    const visit = newVisitor()
    const { share } = await shared()
    upstream.fault(401)
    const text = await (await visit(share.token, { text: 'x' })).text()
    expect(text).toContain('"code":"turn_unavailable"')
    expect(text).not.toMatch(/密钥|地址|通道/)
  })

  test('a visitor cannot use the token anywhere else', async () => {
    const { share } = await shared()
    const bearer = caller(app.url, { authorization: `Bearer ${share.token}` })
    for (const path of ['/v1/apps', '/v1/sessions', '/v1/kb/docs', '/v1/sessions/anon/history']) {
      expect((await bearer('GET', path)).status).toBe(401)
    }
    const cookie = caller(app.url, { cookie: `mb_session=${share.token}` })
    expect((await cookie('GET', '/auth/me')).status).toBe(401)
    for (const rest of ['/history', '/transcript', '/docs', '/../auth/me']) {
      const answer = await fetch(`${app.url}/s/${share.token}${rest}`)
      expect([401, 404]).toContain(answer.status)
    }
    expect(app.log()).not.toContain(share.token)
  })
})

describe('sites', () => {
  const preflight = (token: string, origin: string) =>
    fetch(`${app.url}/s/${token}`, { method: 'OPTIONS', headers: { origin } })

  test('only the sites of a share may call it from their pages', async () => {
    const visit = newVisitor()
    const { share } = await shared({ origins: [SITE] })
    const allowed = await visit(share.token, { text: 'x' }, { origin: SITE })
    expect(allowed.headers.get('access-control-allow-origin')).toBe(SITE)
    expect(allowed.headers.get('access-control-allow-credentials')).toBeNull()
    expect((await visit(share.token, {}, { origin: SITE })).headers.get('vary')).toBe('Origin')
    expect((await preflight(share.token, SITE)).status).toBe(204)
    for (const origin of ['https://evil.example', 'https://shop.example.evil', 'null']) {
      const answer = await visit(share.token, { text: 'x' }, { origin })
      expect(answer.status).toBe(403)
      expect(answer.headers.get('access-control-allow-origin')).toBeNull()
      expect((await preflight(share.token, origin)).status).toBe(403)
    }
    expect((await visit(share.token, { text: 'x' }, { origin: app.url })).status).toBe(200)
  })

  test('the chat page runs its own script only, and its sites may frame it', async () => {
    const { share } = await shared({ origins: [SITE] })
    const page = await fetch(`${app.url}/s/${share.token}`)
    expect(page.status).toBe(200)
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy).toContain(`frame-ancestors 'self' ${SITE}`)
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toContain('unsafe')
    expect(page.headers.get('x-frame-options')).toBeNull()
    expect(page.headers.get('x-robots-tag')).toBe('noindex')
    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    const html = await page.text()
    expect(html).toContain('<title>客服 &#60;b&#62;</title>')
    expect(html).not.toContain('<b>')
    const script = /src="([^"]+)"/.exec(html)?.[1] ?? ''
    const bytes = await (await fetch(app.url + script)).arrayBuffer()
    expect(bytes.byteLength).toBeLessThan(80_000)
  })

  test.each(['Save $$$', "Bob's $' shop", '$& and $`'])(
    'the chat page shows the name %s as it is',
    async (name) => {
      const { share } = await shared({}, { name })
      const html = await (await fetch(`${app.url}/s/${share.token}`)).text()
      const shown = /<title>(.*)<\/title>/.exec(html)?.[1] ?? ''
      const text = shown.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
      expect(text).toBe(name)
    },
  )

  test('an unknown link is not found, and the script of the widget is for all', async () => {
    expect((await fetch(`${app.url}/s/${'x'.repeat(43)}`)).status).toBe(404)
    const widget = await fetch(`${app.url}/widget.js`)
    expect(widget.status).toBe(200)
    expect(widget.headers.get('content-type')).toStartWith('text/javascript')
    expect(widget.headers.get('cross-origin-resource-policy')).toBe('cross-origin')
    expect(await widget.text()).toContain('iframe')
  })
})
