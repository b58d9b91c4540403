import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../support/app.ts'
import { type FakeClock, fakeClock } from '../support/clock.ts'
import { type DeviceClient, deviceClient } from '../support/devices.ts'
import { pass } from '../support/pass.ts'

const MINUTE = 60_000

let app: TestApp
let clock: FakeClock
let call: DeviceClient['call']
let activate: DeviceClient['activate']
let register: DeviceClient['register']
let pair: DeviceClient['pair']

beforeAll(async () => {
  clock = fakeClock()
  app = await startApp({ clock })
  ;({ call, activate, register, pair } = deviceClient(app, await app.key()))
})
afterAll(() => app[Symbol.asyncDispose]())
// A new minute, in which the address has its ten activations again.
afterEach(() => pass(app, clock, MINUTE))

describe('activation', () => {
  test('activation exchanges the code for a key with the app of the device', async () => {
    const { id, code } = await register({ app_id: 'app-1' })
    const answer = await activate(code)
    expect(answer.status).toBe(200)
    const body = await answer.json()
    expect(body).toEqual({
      device_id: id,
      key: expect.stringMatching(/^sk-mb-[0-9a-f]{64}$/),
      app_id: 'app-1',
    })
    const device = (await call('GET', `/${id}`)).body
    expect(device.activated_at).toBe(new Date(clock.now()).toISOString())
    expect(device.code_expires_at).toBeNull()
    expect(JSON.stringify(device)).not.toContain(body.key)
  })

  test('an activation code may be typed in any case, with separators and look-alikes', async () => {
    const { code } = await register()
    const typed = code.toLowerCase().replace(/(.{4})(?!$)/g, '$1-')
    const mistaken = typed.replaceAll('o', '0').replaceAll('i', 'l').replaceAll('b', '8')
    expect((await activate(` ${mistaken} `)).status).toBe(200)
  })

  test('exactly one of many simultaneous activations gets a key, the others 410', async () => {
    const { id, code } = await register()
    const answers = await Promise.all(Array.from({ length: 10 }, () => activate(code)))
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([200, ...Array(9).fill(410)])
    const keys = await app.db.all({
      sql: 'SELECT 1 FROM api_key WHERE device_id = ? AND revoked_at IS NULL',
      args: [id],
    })
    expect(keys).toHaveLength(1)
  })

  test('a used activation code is 410, also after its 15 minutes', async () => {
    const { code } = await pair()
    const again = await activate(code)
    expect([again.status, await again.text()]).toEqual([410, '激活码已被使用'])
    await pass(app, clock, 16 * MINUTE)
    expect((await activate(code)).status).toBe(410)
  })

  test('expired, unknown and replaced activation codes get the same 401', async () => {
    const answers = []
    const late = await register()
    await pass(app, clock, 15 * MINUTE)
    answers.push(await activate(late.code), await activate('ABCDEFGHIJKMNOPQ'))
    const replaced = await register()
    await call('POST', `/${replaced.id}/recode`)
    answers.push(await activate(replaced.code))
    const used = await pair()
    await call('POST', `/${used.id}/recode`)
    answers.push(await activate(used.code), await activate('短'))
    const gone = await register()
    await call('DELETE', `/${gone.id}`)
    answers.push(await activate(gone.code))
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(401))
    expect(new Set(await Promise.all(answers.map((answer) => answer.text()))).size).toBe(1)
  })

  for (const code of [undefined, null, 7, '', '  ']) {
    test(`activation with code ${JSON.stringify(code)} is 400`, async () => {
      expect((await activate(code)).status).toBe(400)
    })
  }

  test('an activation body over 16 KB is refused, as it comes without a credential', async () => {
    expect((await activate('x'.repeat(17_000))).status).toBe(413)
  })

  test('an address activates ten times a minute, whatever it claims to be', async () => {
    const { code } = await register()
    const forwarded = (n: number) =>
      fetch(`${app.url}/v1/devices/activate`, {
        method: 'POST',
        headers: { 'x-forwarded-for': `203.0.113.${n}` },
        body: JSON.stringify({ code: 'ABCDEFGHIJKMNOPQ' }),
      })
    for (let n = 0; n < 10; n++) expect((await forwarded(n)).status).toBe(401)
    const over = await activate(code)
    expect(over.status).toBe(429)
    const seconds = Number(over.headers.get('retry-after'))
    expect(seconds).toBeWithin(1, 61)
    await pass(app, clock, seconds * 1000)
    expect((await activate(code)).status).toBe(200)
  })

  test('activations behind a proxy count by the address that the proxy saw', async () => {
    await using behind = await startApp({ env: { MB_TRUST_PROXY: '1' } })
    const from = (address: string) =>
      fetch(`${behind.url}/v1/devices/activate`, {
        method: 'POST',
        headers: { 'x-forwarded-for': `198.51.100.1, ${address}` },
        body: JSON.stringify({ code: 'ABCDEFGHIJKMNOPQ' }),
      })
    const statuses = []
    for (let n = 0; n < 11; n++) statuses.push((await from('203.0.113.1')).status)
    expect(statuses).toEqual([...Array(10).fill(401), 429])
    expect((await from('203.0.113.2')).status).toBe(401)
  })
})

describe('heartbeat', () => {
  test('a heartbeat stores its fields and keeps the others', async () => {
    const { id, device } = await pair({ hw_model: 'board A' })
    await pass(app, clock, MINUTE)
    const at = new Date(clock.now()).toISOString()
    const first = await call('POST', '/heartbeat', { firmware: '1.2' }, device)
    expect([first.status, first.body]).toEqual([
      200,
      { device_id: id, last_seen_at: at, notices: [] },
    ])
    for (const body of [undefined, {}, { firmware: null }, { hw_model: 'board B' }]) {
      expect((await call('POST', '/heartbeat', body, device)).status).toBe(200)
    }
    expect((await call('GET', `/${id}`)).body).toMatchObject({
      firmware: '1.2',
      hw_model: 'board B',
      last_seen_at: at,
    })
  })

  test('heartbeat fields over 200 characters are 400', async () => {
    const { device } = await pair()
    for (const field of ['firmware', 'hw_model']) {
      const body = { [field]: 'x'.repeat(201) }
      expect((await call('POST', '/heartbeat', body, device)).status).toBe(400)
    }
  })

  test('a heartbeat needs a device key', async () => {
    const appKey = await app.key('a@example.com', { appId: 'app-1' })
    expect((await call('POST', '/heartbeat')).status).toBe(403)
    expect((await call('POST', '/heartbeat', undefined, appKey)).status).toBe(403)
    const nobody = await fetch(`${app.url}/v1/devices/heartbeat`, { method: 'POST' })
    expect(nobody.status).toBe(401)
  })
})
