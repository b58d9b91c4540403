import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { type FakeClock, fakeClock } from '../support/clock.ts'
import { type DeviceClient, deviceClient } from '../support/devices.ts'
import { postSse } from '../support/sse.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
let clock: FakeClock
let owner: TestKey
let call: DeviceClient['call']
let pair: DeviceClient['pair']

beforeAll(async () => {
  upstream = await startUpstream()
  clock = fakeClock()
  app = await startApp({ upstream: upstream.baseUrl, clock })
  owner = await app.key()
  ;({ call, pair } = deviceClient(app, owner))
})
afterEach(() => {
  upstream.reset()
  clock.advance(60_000)
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const ask = ({ headers }: TestKey, session_id: string) =>
  postSse(`${app.url}/v1/agent`, { headers, body: { text: 'hi', session_id } })

describe('a turn of a device', () => {
  test("a device's turn updates its last-seen time and marks its session", async () => {
    const { id, device } = await pair()
    await (await ask(device, 'living-room')).all()
    await app.flush()
    expect((await call('GET', `/${id}`)).body.last_seen_at).toBe(clock.iso())
    const list = await fetch(`${app.url}/v1/sessions`, { headers: owner.headers })
    const { sessions } = await list.json()
    expect(sessions[0]).toMatchObject({ id: 'living-room', device_id: id, app_id: null })
  })

  test('a last-seen time that is written late does not replace a newer one', async () => {
    const { id, device } = await pair()
    await (await ask(device, 'late')).all()
    clock.advance(1000)
    await call('POST', '/heartbeat', undefined, device)
    await app.flush()
    expect((await call('GET', `/${id}`)).body.last_seen_at).toBe(clock.iso())
  })

  test("a device's turn that waits in line does not begin after its key is revoked", async () => {
    const { id, device } = await pair()
    const speak = Promise.withResolvers<void>()
    upstream.reply({ text: 'slow', holdHeaders: speak.promise })
    const first = await ask(owner, 'shared')
    await upstream.nextRequest()
    const second = await ask(device, 'shared')
    expect(second.status).toBe(200)
    await call('POST', `/${id}/recode`)
    speak.resolve()
    await first.all()
    expect((await second.all()).map(({ data }) => data.type)).toEqual(['error'])
    expect(upstream.requests).toHaveLength(1)
  })

  test("a device's turn whose body still arrives is refused after its key is revoked", async () => {
    const { id, device } = await pair()
    const revoked = Promise.withResolvers<void>()
    const began = Promise.withResolvers<void>()
    const body = new ReadableStream({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode('{"text":'))
        began.resolve()
        await revoked.promise
        controller.enqueue(new TextEncoder().encode('"hi"}'))
        controller.close()
      },
    })
    const { headers } = device
    const answer = fetch(`${app.url}/v1/agent`, { method: 'POST', headers, body })
    await began.promise
    await call('DELETE', `/${id}`)
    revoked.resolve()
    expect((await answer).status).toBe(401)
    expect(upstream.requests).toHaveLength(0)
  })
})
