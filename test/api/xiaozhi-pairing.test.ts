import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Call, caller } from '../support/api.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { startingBoard } from '../support/board.ts'
import { fakeClock } from '../support/clock.ts'
import { type DeviceClient, deviceClient } from '../support/devices.ts'
import { pass } from '../support/pass.ts'

const WRONG = '配对码无效或已过期，请在控制台重新生成'

let app: TestApp
let owner: TestKey
let devices: DeviceClient
const clock = fakeClock()

beforeAll(async () => {
  app = await startApp({ clock, env: { MB_TRUST_PROXY: '1' } })
  owner = await app.key()
  devices = deviceClient(app, owner)
})
afterAll(() => app[Symbol.asyncDispose]())

let addresses = 0
/** A board behind an address of its own, so that tests do not share its limit. */
const board = (options: Parameters<typeof startingBoard>[1] = {}) => {
  const headers = { 'x-forwarded-for': `10.0.${++addresses >> 8}.${addresses & 255}` }
  return startingBoard(app, { ...options, headers: { ...headers, ...options.headers } })
}
const bearer = (token: string) => {
  return { ...owner, key: token, headers: { authorization: `Bearer ${token}` } }
}
const heartbeat = async (token: string) =>
  (await devices.call('POST', '/heartbeat', {}, bearer(token))).status

/** A device and a board that its code in the address has paired. */
async function paired() {
  const { id, code } = await devices.register()
  const one = board()
  const started = await one.start(code)
  return { id, code, board: one, token: started.websocket.token }
}

describe('a board whose address holds the activation code', () => {
  test('a board with a code is paired at once and told its socket and key', async () => {
    const { id, code } = await devices.register()
    const one = board()
    const told = await one.start(code)
    expect(told.status).toBe(200)
    expect(told).not.toHaveProperty('activation')
    expect(told).not.toHaveProperty('mqtt')
    expect(told.firmware).toEqual({ version: '2.4.2', url: '' })
    expect(told.server_time.timestamp).toBe(clock.now())
    expect(told.websocket).toEqual({
      url: `${app.url.replace('http', 'ws')}/xiaozhi/v1/`,
      token: expect.stringMatching(/^sk-mb-[0-9a-f]{64}$/),
      version: 1,
    })
    expect(await heartbeat(told.websocket.token)).toBe(200)
    expect((await devices.call('GET', `/${id}`)).body).toMatchObject({
      hw_model: 'bread-compact-wifi',
      firmware: '2.4.2',
      activated_at: clock.iso(),
      code_expires_at: null,
    })
    expect(await one.activate(code)).toBe(200)
  })

  test('a paired board gets the same key at every later start, also without its code', async () => {
    const { code, board: one, token } = await paired()
    await pass(app, clock, 60 * 60_000)
    expect((await one.start(code)).websocket.token).toBe(token)
    expect((await one.start(code, { method: 'GET', body: null })).websocket.token).toBe(token)
    const slashless = await fetch(`${app.url}/xiaozhi/${code}`, { headers: one.headers })
    expect((await slashless.json()).websocket.token).toBe(token)
    expect((await one.start()).websocket.token).toBe(token)
    expect(await one.activate()).toBe(200)
  })

  test('a board is not taken for another one with one of its two names', async () => {
    const { code, board: one } = await paired()
    for (const stranger of [
      board({ mac: one.mac }),
      board({ clientId: one.clientId }),
      board({ mac: one.mac, headers: { 'client-id': '' } }),
    ]) {
      const told = await stranger.start(code)
      expect(told.activation?.message).toBe(WRONG)
      expect(await stranger.activate(code)).toBe(202)
    }
  })

  test('a board is told in words that its code is unknown, expired or replaced', async () => {
    const expired = await devices.register()
    const replaced = await devices.register()
    await devices.call('POST', `/${replaced.id}/recode`)
    await pass(app, clock, 15 * 60_000)
    for (const code of ['ABCDEFGHIJKMNOPQ', 'x', expired.code, replaced.code]) {
      const one = board()
      const told = await one.start(code)
      expect(told).toMatchObject({
        status: 200,
        websocket: { url: '', token: '' },
        activation: { code: '', message: WRONG, challenge: 'none', timeout_ms: 30_000 },
      })
      expect(await one.activate(code)).toBe(202)
    }
  })

  test('a board that does not name itself redeems nothing', async () => {
    const { code } = await devices.register()
    for (const headers of [{ 'device-id': '' }, { 'client-id': '' }]) {
      const told = await board({ headers }).start(code)
      expect(told).toMatchObject({ activation: { message: WRONG }, firmware: { version: '2.4.2' } })
    }
    // The body may be no JSON: the headers say who asks.
    const told = await board().start(code, { body: '{"version":2,"board":{"type":"x"' })
    expect(told.firmware.version).toBe('2.4.2')
    expect(told.websocket.token).not.toBe('')
  })

  test('a board shares its tries with activations by code; its starts are none', async () => {
    const { code, board: one, token } = await paired()
    const same = { headers: { 'x-forwarded-for': one.headers['x-forwarded-for'] ?? '' } }
    const wrong = (address: string) =>
      fetch(`${app.url}/v1/devices/activate`, {
        method: 'POST',
        headers: { 'x-forwarded-for': address },
        body: JSON.stringify({ code: 'ABCDEFGHIJKMNOPQ' }),
      })
    for (let i = 0; i < 9; i++) await wrong(same.headers['x-forwarded-for'])
    const fresh = await devices.register()
    const told = await startingBoard(app, same).start(fresh.code)
    expect(told).toMatchObject({ status: 200, websocket: { token: '' } })
    expect(told.activation?.message).toBe('激活尝试过于频繁，请稍后再试')
    expect((await one.start(code)).websocket.token).toBe(token)
    await pass(app, clock, 60_000)
    expect((await startingBoard(app, same).start(fresh.code)).websocket.token).not.toBe('')
  })

  test('of many boards with the same code at once only one is paired', async () => {
    const { code } = await devices.register()
    const told = await Promise.all(Array.from({ length: 8 }, () => board().start(code)))
    expect(told.filter(({ websocket }) => websocket.token !== '')).toHaveLength(1)
  })
})

describe('what ends the key of a board', () => {
  const endings: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
    recode: (id) => devices.call('POST', `/${id}/recode`),
    deletion: (id) => devices.call('DELETE', `/${id}`),
    async revocation(id) {
      const person = caller(`${app.url}/console`, (await app.person()).headers)
      const { keys } = (
        await person<{ keys: { id: string; device_id: string }[] }>('GET', '/keys')
      ).json()
      return person('DELETE', `/keys/${keys.find(({ device_id }) => device_id === id)?.id}`)
    },
  }

  test.each(Object.keys(endings))('%s ends the key of a board', async (ending) => {
    const { id, code, board: one, token } = await paired()
    await endings[ending]?.(id)
    expect(await heartbeat(token)).toBe(401)
    expect((await one.start(code)).activation?.message).toBe(WRONG)
    expect((await one.start()).activation?.code).toMatch(/^\d{6}$/)
  })

  test('a board that is paired again gets another key', async () => {
    const { id, board: one, token } = await paired()
    const { body } = await devices.call('POST', `/${id}/recode`)
    const told = await one.start(String(body.activation_code))
    expect(told.websocket.token).toMatch(/^sk-mb-/)
    expect(told.websocket.token).not.toBe(token)
  })
})

describe('a board that shows six digits', () => {
  let person: Call
  beforeAll(async () => {
    person = caller(`${app.url}/console`, (await app.person()).headers)
  })

  test('a board shows the same digits for a quarter of an hour and is bound by them', async () => {
    const one = board({ mac: 'A0:B1:C2:D3:E4:F5' })
    const told = await one.start()
    expect(told.websocket).toEqual({ url: '', token: '' })
    const digits = told.activation?.code ?? ''
    expect(digits).toMatch(/^\d{6}$/)
    expect(told.activation?.message).toContain(digits)
    expect(told.activation?.challenge).toMatch(/./)
    expect(await one.activate()).toBe(202)
    await pass(app, clock, 14 * 60_000)
    expect((await one.start()).activation?.code).toBe(digits)

    const seen = await person<unknown>('POST', '/devices/pair/board', { code: digits })
    expect(seen.json()).toEqual({ board: 'bread-compact-wifi', mac_tail: 'e4f5' })
    const made = await person<{ id: string }>('POST', '/devices/pair', {
      code: digits,
      name: '书房',
    })
    expect(made.status).toBe(201)
    expect(made.json()).toMatchObject({
      name: '书房',
      app_id: null,
      hw_model: 'bread-compact-wifi',
      firmware: '2.4.2',
      activated_at: clock.iso(),
      code_expires_at: null,
    })
    expect(await one.activate()).toBe(200)
    const { websocket, ...rest } = await one.start()
    expect(rest).not.toHaveProperty('activation')
    expect(await heartbeat(websocket.token)).toBe(200)
    const again = await person('POST', '/devices/pair', { code: digits, name: 'x' })
    expect([again.status, again.text]).toEqual([404, '配对码无效或已过期'])
  })

  test('a board gets fresh digits when its digits have ended', async () => {
    const one = board()
    const digits = (await one.start()).activation?.code ?? ''
    await pass(app, clock, 15 * 60_000)
    const late = await devices.call('POST', '/pair', { code: digits, name: 'x' })
    expect(late.status).toBe(404)
    expect((await one.start()).activation?.code).not.toBe(digits)
  })

  test('a board of digits is bound to the app that is named, which its key inherits', async () => {
    const one = board()
    const code = (await one.start()).activation?.code
    const made = await devices.call('POST', '/pair', { code, name: 'x', app_id: 'app-9' })
    expect(made.body.app_id).toBe('app-9')
    const { keys } = (await person<{ keys: Record<string, unknown>[] }>('GET', '/keys')).json()
    expect(keys).toContainEqual(
      expect.objectContaining({ device_id: made.body.id, app_id: 'app-9' }),
    )
  })

  test('a board of digits is bound once, however many ask at once', async () => {
    const one = board()
    const code = (await one.start()).activation?.code
    const asked = Array.from({ length: 5 }, () =>
      devices.call('POST', '/pair', { code, name: 'x' }),
    )
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    expect(statuses.sort()).toEqual([201, 404, 404, 404, 404])
  })

  test('digits of a board cannot be found by trying: ten wrong ones an hour', async () => {
    const other = deviceClient(app, await app.key('guesser@example.com'))
    const one = board()
    const code = (await one.start()).activation?.code
    const guess = (body: object) => other.call('POST', '/pair', body)
    expect((await guess({ code: '', name: 'x' })).status).toBe(400)
    expect((await guess({ code: '000000' })).status).toBe(400)
    for (let i = 0; i < 10; i++)
      expect((await guess({ code: 'wrong!', name: 'x' })).status).toBe(404)
    const refused = await guess({ code, name: 'x' })
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_000)
    expect((await other.call('POST', '/pair/board', { code })).status).toBe(429)
    expect((await devices.call('POST', '/pair', { code, name: 'x' })).status).toBe(201)
  })

  test('a thousand invented boards displace each other only', async () => {
    const one = board()
    const digits = (await one.start()).activation?.code
    const crowd = board().headers['x-forwarded-for'] ?? ''
    const invented = () => startingBoard(app, { headers: { 'x-forwarded-for': crowd } })
    const first = invented()
    const shown = (await first.start()).activation?.code
    const fifty = () => Promise.all(Array.from({ length: 50 }, () => invented().start()))
    for (let i = 0; i < 20; i++) await fifty()
    await invented().start() // Fifty at once may pass the bound; the next makes room.
    expect((await one.start()).activation?.code).toBe(digits)
    expect((await first.start()).activation?.code).not.toBe(shown)
  })
})

test('a browser page of a simulator may ask, with the headers of a board', async () => {
  const answer = await fetch(`${app.url}/xiaozhi/`, { method: 'OPTIONS' })
  expect(answer.status).toBe(204)
  const allowed = answer.headers.get('access-control-allow-headers') ?? ''
  expect(allowed).toContain('Device-Id, Client-Id')
  expect((await fetch(`${app.url}/xiaozhi`)).headers.get('access-control-allow-origin')).toBe('*')
})

test("a board's socket is below the public address, with prefix and TLS", async () => {
  await using other = await startApp({ env: { MB_PUBLIC_URL: 'https://box.example/moon/' } })
  const { code } = await deviceClient(other, await other.key()).register()
  const told = await startingBoard(other).start(code)
  expect(told.websocket.url).toBe('wss://box.example/moon/xiaozhi/v1/')
})

test('neither a code nor a key of a board is in the log', async () => {
  const { code, token } = await paired()
  await board().start('ABCDEFGHIJKMNOPQ')
  expect(app.log()).not.toContain(code)
  expect(app.log()).not.toContain(token)
})
