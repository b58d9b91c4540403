import { describe, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../../support/app.ts'
import { codesFor, requestCode, signIn, verifyCode } from '../../support/login.ts'

const start = (app: TestApp, email: string) =>
  fetch(`${app.url}/auth/email/start`, { method: 'POST', body: JSON.stringify({ email }) })

describe('MB_SIGNUP', () => {
  test('MB_SIGNUP=closed admits known people only, with the same answers for all', async () => {
    await using app = await startApp({ env: { MB_SIGNUP: 'closed' } })
    const { tenantId } = await app.key('known@example.com')
    const [known, fresh] = await Promise.all([
      start(app, 'known@example.com'),
      start(app, 'fresh@example.com'),
    ])
    expect([known.status, fresh.status]).toEqual([200, 200])
    expect(await known.text()).toBe('{"sent":true}')
    expect(await fresh.text()).toBe('{"sent":true}')
    expect([...fresh.headers.keys()]).toEqual([...known.headers.keys()])
    await app.jobs.idle()
    expect(codesFor('fresh@example.com', app.printed.text())).toEqual([])
    expect((await signIn(app, 'known@example.com')).me.tenant_id).toBe(tenantId)
    expect((await verifyCode(app, 'fresh@example.com', '000000')).status).toBe(401)
  })

  test('addresses that may not sign up have the same limit of codes', async () => {
    await using app = await startApp({ env: { MB_SIGNUP: 'closed' } })
    const statuses: number[] = []
    for (let n = 0; n < 6; n++) statuses.push((await start(app, 'fresh@example.com')).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
  })

  test('MB_SIGNUP lists addresses and domains', async () => {
    const list = 'Guest@partner.example, @example.com'
    await using app = await startApp({ env: { MB_SIGNUP: list } })
    await signIn(app, 'anyone@example.com')
    await signIn(app, 'guest@partner.example')
    for (const email of ['other@partner.example', 'a@notexample.com', 'a@sub.example.com']) {
      await start(app, email)
      await app.jobs.idle()
      expect(codesFor(email, app.printed.text())).toEqual([])
    }
  })

  test('people that MB_SIGNUP no longer lists may still sign in', async () => {
    await using app = await startApp({ env: { MB_SIGNUP: '@example.com' } })
    await app.key('old@elsewhere.example')
    await signIn(app, 'old@elsewhere.example')
  })

  test('the person at the terminal may sign in as the owner of the first key', async () => {
    await using app = await startApp()
    const { tenantId } = await app.key('owner@localhost')
    const code = await requestCode(app, 'owner@localhost')
    const response = await verifyCode(app, 'owner@localhost', code)
    expect((await response.json()).tenant_id).toBe(tenantId)
  })
})
