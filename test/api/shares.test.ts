import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'
import { type Share, startShare, visitor } from '../support/shares.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const SITE = 'https://shop.example'
const LOOK = { color: null, position: 'right', language: 'auto', title: null }
const clock = fakeClock()
let upstream: Upstream
let app: TestApp
let visitors = 0

beforeAll(async () => {
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

describe('the shares of an app', () => {
  test('a share is made, listed with its token, and deleted', async () => {
    const visit = newVisitor()
    const { call, at, share, appId } = await shared({ origins: [`${SITE}/`, SITE] })
    expect(share).toEqual({
      ...{ id: expect.any(String), app_id: appId, name: '官网', origins: [SITE] },
      ...{ daily_turns: 100, turns_today: 0, expires_at: null, created_at: clock.iso() },
      ...{ paused: false, look: LOOK, token: expect.stringMatching(/^[\w-]{43}$/) },
      url: `${app.url}/s/${share.token}`,
    })
    const { token } = share
    const list = await call('GET', at)
    expect(list.json()).toEqual({ shares: [share] })
    const rows = JSON.stringify(await app.db.all({ sql: 'SELECT * FROM share', args: [] }))
    expect(rows).not.toContain(token)
    expect((await call('DELETE', `${at}/${share.id}`)).json()).toEqual({
      ...{ id: share.id, deleted: true },
    })
    expect((await call('DELETE', `${at}/${share.id}`)).status).toBe(404)
    expect((await visit(token, { text: 'x' })).status).toBe(404)
  })

  test.each([
    [{ name: '' }, 'field_empty'],
    [{ name: 'x'.repeat(61) }, 'field_too_long'],
    [{ origins: ['shop.example'] }, 'share_origin'],
    [{ origins: ['https://shop.example/path'] }, 'share_origin'],
    [{ origins: ["https://a.example 'unsafe-inline'"] }, 'share_origin'],
    [{ origins: ['*'] }, 'share_origin'],
    [{ origins: ['https://*'] }, 'share_origin'],
    [{ origins: ['https://*.shop.example'] }, 'share_origin'],
    [{ origins: ['https://shop.*'] }, 'share_origin'],
    [{ origins: ['https://shop.example:*'] }, 'share_origin'],
    [{ origins: ['https://a;b'] }, 'share_origin'],
    [{ origins: ['https://a,b'] }, 'share_origin'],
    [{ origins: ['null'] }, 'share_origin'],
    [{ origins: Array(21).fill(SITE) }, 'too_many_items'],
    [{ daily_turns: 0 }, 'share_turns_range'],
    [{ daily_turns: 1.5 }, 'share_turns_range'],
    [{ expires_at: 'tomorrow' }, 'share_expiry'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'share_expiry'],
  ])('the share %j is refused', async (body, code) => {
    const { call, at } = await shared()
    const answer = await call('POST', at, { name: 'n', ...body })
    expect([answer.status, answer.headers.get('x-error-code')]).toEqual([400, code])
  })

  test('an app has at most 20 shares', async () => {
    const { call, at } = await shared()
    for (let i = 1; i < 20; i += 1) await call('POST', at, { name: 'n' })
    expect((await call('POST', at, { name: 'n' })).headers.get('x-error-code')).toBe('quota_shares')
  })

  test('shares of another tenant or app behave as if they did not exist', async () => {
    const visit = newVisitor()
    const [one, two] = [await shared(), await shared()]
    const foreign = `${one.at}/${one.share.id}`
    expect((await two.call('GET', one.at)).status).toBe(404)
    expect((await two.call('POST', one.at, { name: 'n' })).status).toBe(404)
    expect((await two.call('DELETE', foreign)).status).toBe(404)
    expect((await two.call('DELETE', `${two.at}/${one.share.id}`)).status).toBe(404)
    const own = await visit(one.share.token, { text: 'x' })
    expect(own.status).toBe(200)
    // A turn that has not asked the model yet would take the answer of the next test.
    await own.all()
  })

  test('a share goes with its app, and a running turn of it ends', async () => {
    const visit = newVisitor()
    const { call, appId, share } = await shared()
    const asked = Promise.withResolvers<void>()
    upstream.reply(() => {
      asked.resolve()
      return { text: 'x', hold: { after: 0, until: new Promise(() => {}) } }
    })
    const open = await visit(share.token, { text: 'x' })
    // Likewise.
    await asked.promise
    expect((await call('DELETE', `/console/apps/${appId}`)).status).toBe(200)
    expect((await open.all()).at(-1)?.data).toMatchObject({ code: 'turn_unavailable' })
    expect((await visit(share.token, { text: 'x' })).status).toBe(404)
  })
})

describe('limits of a share', () => {
  test('an address has 10 turns a minute', async () => {
    const visit = newVisitor()
    const { share } = await shared()
    for (let i = 0; i < 10; i += 1) {
      expect((await visit(share.token, { text: 'x' })).status).toBe(200)
    }
    const answer = await visit(share.token, { text: 'x' })
    expect([answer.status, answer.headers.get('x-error-code')]).toEqual([429, 'rate_limited'])
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  test('a share has its turns a day, also for turns at the same time', async () => {
    const visit = newVisitor()
    const { share, call, at } = await shared({ daily_turns: 3 })
    const statuses = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const answer = await visit(share.token, { text: 'x' })
        await answer.text()
        return answer.status
      }),
    )
    expect(statuses.sort()).toEqual([200, 200, 200, 429, 429, 429])
    const spent = await visit(share.token, { text: 'x' })
    expect(spent.headers.get('x-error-code')).toBe('budget_spent')
    expect(Number(spent.headers.get('retry-after'))).toBe(12 * 3_600)
    const [listed] = (await call<{ shares: Share[] }>('GET', at)).json().shares
    expect(listed?.turns_today).toBe(3)
    clock.advance(12 * 3_600_000)
    expect((await visit(share.token, { text: 'x' })).status).toBe(200)
  })

  test('a refused turn is not counted', async () => {
    const visit = newVisitor()
    const { share, call, at } = await shared()
    expect((await visit(share.token, '{not json')).status).toBe(400)
    expect((await visit(share.token, { text: ' ' })).status).toBe(400)
    expect((await visit(share.token, { text: 'x'.repeat(4_001) })).status).toBe(400)
    expect((await visit(share.token, { text: 'x'.repeat(17_000) })).status).toBe(413)
    const [listed] = (await call<{ shares: Share[] }>('GET', at)).json().shares
    expect(listed?.turns_today).toBe(0)
  })

  test('a turn that the budget of the tenant refuses is not counted', async () => {
    const visit = newVisitor()
    const { share, call, at, tenantId } = await shared({ daily_turns: 2 })
    const boss = caller(`${app.url}/console`, (await app.operator()).headers)
    const turnsOf = async () =>
      (await call<{ shares: Share[] }>('GET', at)).json().shares[0]?.turns_today
    await (await visit(share.token, { text: 'x' })).text()
    await boss('PUT', `/system/tenants/${tenantId}`, { daily_tokens: 1 })
    const refused = await Promise.all([1, 2, 3].map(() => visit(share.token, { text: 'x' })))
    expect(refused.map(({ status }) => status)).toEqual([429, 429, 429])
    expect(await turnsOf()).toBe(1)
    await boss('PUT', `/system/tenants/${tenantId}`, { daily_tokens: 0 })
    expect((await visit(share.token, { text: 'x' })).status).toBe(200)
    expect(await turnsOf()).toBe(2)
  })

  test('a share ends when it expires', async () => {
    const visit = newVisitor()
    const expires_at = new Date(clock.now() + 60_000).toISOString()
    const { share } = await shared({ expires_at })
    expect((await visit(share.token, { text: 'x' })).status).toBe(200)
    clock.advance(60_000)
    expect((await visit(share.token, { text: 'x' })).status).toBe(404)
    expect((await fetch(`${app.url}/s/${share.token}`)).status).toBe(404)
  })
})
