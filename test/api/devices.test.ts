import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { type FakeClock, fakeClock } from '../support/clock.ts'
import { type DeviceClient, deviceClient } from '../support/devices.ts'
import { signIn } from '../support/login.ts'

const MINUTE = 60_000

let app: TestApp
let clock: FakeClock
let owner: TestKey
let call: DeviceClient['call']
let activate: DeviceClient['activate']
let register: DeviceClient['register']
let pair: DeviceClient['pair']

beforeAll(async () => {
  clock = fakeClock()
  app = await startApp({ clock })
  owner = await app.key()
  ;({ call, activate, register, pair } = deviceClient(app, owner))
})
afterAll(() => app[Symbol.asyncDispose]())
// A new minute, in which the address has its ten activations again.
afterEach(() => clock.advance(MINUTE))

describe('registration', () => {
  test('registering a device returns its code once and lists it without', async () => {
    const made = await call('POST', '', { name: ' 客厅音箱 ', hw_model: 'ESP32-S3' })
    expect(made.status).toBe(201)
    const { id, activation_code, ...rest } = made.body
    expect(activation_code).toMatch(/^[A-Z2-7]{16}$/)
    const created = new Date(clock.now()).toISOString()
    const expires = new Date(clock.now() + 15 * MINUTE).toISOString()
    expect(rest).toEqual({
      name: '客厅音箱',
      app_id: null,
      hw_model: 'ESP32-S3',
      created_at: created,
      code_expires_at: expires,
    })
    const device = {
      ...rest,
      id,
      firmware: null,
      activated_at: null,
      last_seen_at: null,
    }
    expect((await call('GET', `/${id}`)).body).toEqual(device)
    const list = await call('GET', '')
    expect((list.body.devices as unknown[])[0]).toEqual(device)
    expect(list.text).not.toContain(String(activation_code))
  })

  const bad: Record<string, unknown> = {
    'no name': {},
    'blank name': { name: '   ' },
    'name of 61': { name: '名'.repeat(61) },
    'name of another type': { name: 7 },
    'hw_model of 201': { name: 'a', hw_model: 'x'.repeat(201) },
    'app_id of another type': { name: 'a', app_id: 7 },
    'no JSON': '{',
    'an array': [],
    'nothing at all': '',
  }
  for (const [name, body] of Object.entries(bad)) {
    test(`registering a device is 400: ${name}`, async () => {
      const { status, headers, text } = await call('POST', '', body)
      expect(status).toBe(400)
      expect(headers.get('content-type')).toStartWith('text/plain')
      expect(text).toMatch(/\p{Script=Han}/u)
    })
  }

  test('a device name has 60 trimmed characters, and unknown fields are ignored', async () => {
    const name = '🙂'.repeat(60)
    const { status, body } = await call('POST', '', { name: ` ${name} `, tenant_id: 'x', id: 'y' })
    expect([status, body.name]).toEqual([201, name])
    expect(body.id).not.toBe('y')
  })

  test('a tenant has 100 devices, also when many register at once', async () => {
    const full = await app.key('full@example.com')
    const tries = Array.from({ length: 105 }, () => call('POST', '', { name: 'a' }, full))
    const statuses = (await Promise.all(tries)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(100)
    expect(statuses.filter((status) => status === 403)).toHaveLength(5)
    const { devices } = (await call('GET', '', undefined, full)).body as {
      devices: [{ id: string }]
    }
    await call('DELETE', `/${devices[0].id}`, undefined, full)
    expect((await call('POST', '', { name: 'a' }, full)).status).toBe(201)
  })
})

describe('change', () => {
  test('updating a device rebinds later activations and keeps its key', async () => {
    const { id, device } = await pair({ app_id: 'app-1' })
    const { body } = await call('PUT', `/${id}`, { name: '卧室', app_id: 'app-2', firmware: 'x' })
    expect(body).toMatchObject({ name: '卧室', app_id: 'app-2', firmware: null })
    const row = await app.db.get<{ app_id: string }>({
      sql: 'SELECT app_id FROM api_key WHERE device_id = ?',
      args: [id],
    })
    expect(row?.app_id).toBe('app-1')
    expect((await call('POST', '/heartbeat', undefined, device)).status).toBe(200)
    const { activation_code } = (await call('POST', `/${id}/recode`)).body
    expect((await (await activate(activation_code)).json()).app_id).toBe('app-2')
  })

  for (const app_id of [undefined, null, '']) {
    test(`updating a device with app_id ${JSON.stringify(app_id)} unbinds it`, async () => {
      const { id } = await register({ app_id: 'app-1' })
      const { body } = await call('PUT', `/${id}`, { name: 'a', app_id })
      expect(body.app_id).toBeNull()
    })
  }

  test('updating a device without a name is 400', async () => {
    const { id } = await register()
    expect((await call('PUT', `/${id}`, { app_id: 'x' })).status).toBe(400)
  })

  test('recode and deletion of a device revoke its key at once', async () => {
    for (const cut of [
      (id: string) => call('POST', `/${id}/recode`),
      (id: string) => call('DELETE', `/${id}`),
    ]) {
      const { id, device } = await pair()
      const before = await call('POST', '/heartbeat', undefined, device)
      expect([before.status, (await cut(id)).status]).toEqual([200, 200])
      expect((await call('POST', '/heartbeat', undefined, device)).status).toBe(401)
    }
  })

  test('recode gives a device a new code for 15 minutes', async () => {
    const { id } = await pair()
    clock.advance(MINUTE)
    const { body } = await call('POST', `/${id}/recode`)
    const expires = new Date(clock.now() + 15 * MINUTE).toISOString()
    expect(body).toEqual({
      id,
      activation_code: expect.stringMatching(/^[A-Z2-7]{16}$/),
      code_expires_at: expires,
    })
    const device = (await call('GET', `/${id}`)).body
    expect([device.activated_at, device.code_expires_at]).toEqual([null, expires])
  })

  test('a deleted device is 404', async () => {
    const { id } = await register()
    expect((await call('DELETE', `/${id}`)).body).toEqual({ id, deleted: true })
    expect((await call('DELETE', `/${id}`)).status).toBe(404)
    expect((await call('GET', `/${id}`)).status).toBe(404)
  })
})

describe('who may manage devices', () => {
  const paths = [
    ['GET', ''],
    ['POST', ''],
    ['GET', '/x'],
    ['PUT', '/x'],
    ['DELETE', '/x'],
    ['POST', '/x/recode'],
  ] as const

  test('app keys and device keys may not manage devices', async () => {
    const { device } = await pair()
    const appKey = await app.key('a@example.com', { appId: 'app-1' })
    for (const [method, path] of paths) {
      const asApp = await call(method, path, undefined, appKey)
      expect([asApp.status, asApp.text]).toEqual([403, '应用级密钥无管理权限'])
      const asDevice = await call(method, path, undefined, device)
      expect([asDevice.status, asDevice.text]).toEqual([403, '设备密钥无管理权限'])
    }
  })

  test('a device of another tenant is 404', async () => {
    const { id } = await register()
    const other = await app.key('other@example.com')
    const list = await call('GET', '', undefined, other)
    expect(list.body.devices).toEqual([])
    for (const [method, path] of paths.filter(([, path]) => path !== '')) {
      const body = method === 'PUT' ? { name: 'mine now' } : undefined
      const theirs = await call(method, path.replace('x', id), body, other)
      expect([method, theirs.status]).toEqual([method, 404])
    }
    expect((await call('GET', `/${id}`)).body.name).toBe('客厅')
  })

  test('the console manages devices like the machine side', async () => {
    const { headers } = await signIn(app, 'a@example.com')
    const console = async (method: string, path = '', body?: object) => {
      const answer = await fetch(`${app.url}/console/devices${path}`, {
        method,
        headers,
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
      return { status: answer.status, body: await answer.json() }
    }
    const made = await console('POST', '', { name: '阳台' })
    expect([made.status, made.body.name]).toEqual([201, '阳台'])
    const { id, activation_code } = made.body
    const { key } = await (await activate(activation_code)).json()
    const device = { ...owner, headers: { authorization: `Bearer ${key}` } }
    expect((await console('GET', `/${id}`)).body).toEqual((await call('GET', `/${id}`)).body)
    expect((await console('GET')).body).toEqual((await call('GET', '')).body)
    expect((await console('PUT', `/${id}`, { name: '书房' })).body.name).toBe('书房')
    expect((await console('POST', `/${id}/recode`)).status).toBe(200)
    expect((await call('POST', '/heartbeat', undefined, device)).status).toBe(401)
    expect((await console('DELETE', `/${id}`)).body).toEqual({ id, deleted: true })
  })
})

describe('a sentence to say', () => {
  const say = (id: string, text: string) => call('POST', `/${id}/say`, { text })
  const heard = async (device: TestKey) => {
    const { body } = await call('POST', '/heartbeat', {}, device)
    return (body.notices as { text: string }[]).map(({ text }) => text)
  }

  test('a sentence reaches its device once, and no other one', async () => {
    const [one, two] = [await pair(), await pair()]
    const said = await say(one.id, ' 晚饭好了。 ')
    expect(said.status).toBe(202)
    expect(said.body).toEqual({ id: expect.any(String), text: '晚饭好了。' })
    expect(await heard(two.device)).toEqual([])
    expect(await heard(one.device)).toEqual(['晚饭好了。'])
    expect(await heard(one.device)).toEqual([])
  })

  test('a sentence that nobody fetched within a day is not said', async () => {
    const { id, device } = await pair()
    await say(id, '昨天的话。')
    clock.advance(24 * 60 * MINUTE + 1)
    expect(await heard(device)).toEqual([])
  })

  test('twenty sentences wait for a device, also when they come at once', async () => {
    const { id, device } = await pair()
    const answers = await Promise.all(Array.from({ length: 21 }, (_, i) => say(id, `句 ${i}`)))
    const refused = answers.filter(({ status }) => status !== 202)
    expect(refused.map(({ status, headers }) => [status, headers.get('x-error-code')])).toEqual([
      [403, 'quota_schedules'],
    ])
    await heard(device)
    expect((await say(id, '有空位了。')).status).toBe(202)
  })

  test('a sentence needs a text, and a device of the tenant', async () => {
    const { id } = await pair()
    for (const text of ['', '长'.repeat(501)]) expect((await say(id, text)).status).toBe(400)
    const stranger = await app.key('other@example.com')
    expect((await call('POST', `/${id}/say`, { text: 'x' }, stranger)).status).toBe(404)
  })
})
