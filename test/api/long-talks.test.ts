import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { systemClock } from '../../src/core/clock.ts'
import { ANSWER_STALL_MS_MAX } from '../../src/core/limits/machine.ts'
import { type Call, caller } from '../support/api.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { longTalk } from '../support/long-talks.ts'

/** What happens to the first answer that its reader does not take. */
const stalled = Promise.withResolvers<() => void>()
let app: TestApp
let key: TestKey
let call: Call
beforeAll(async () => {
  const system = systemClock()
  const clock = {
    ...system,
    after(ms: number, task: () => void) {
      if (ms !== ANSWER_STALL_MS_MAX) return system.after(ms, task)
      stalled.resolve(task)
      return () => {}
    },
  }
  app = await startApp({ clock })
  key = await app.key()
  call = caller(`${app.url}/v1`, key.headers)
})
afterAll(() => app[Symbol.asyncDispose]())

describe('the export of a long session', () => {
  test('is read as it is sent, and ends for a client that takes nothing', async () => {
    await longTalk(app, key, 'exported', { turns: 30, letters: 1_000_000 })
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
    socket.pause()
    socket.write(
      'GET /v1/sessions/exported/export?format=html HTTP/1.1\r\nHost: localhost\r\n' +
        `Authorization: ${key.headers.authorization}\r\n\r\n`,
    )
    const disconnect = await stalled.promise
    expect(app.budget.used).toBeGreaterThan(0)
    disconnect()
    while (app.budget.used > 0) await Bun.sleep(5)
    socket.destroy()
  }, 60_000)

  test('is whole in each form, as that of a short one', async () => {
    await longTalk(app, key, 'whole', { turns: 250, letters: 1_000 })
    const path = '/sessions/whole/export?format='
    const json = (await call<{ turns: { seq: number }[] }>('GET', `${path}json`)).json()
    expect(json.turns.map(({ seq }) => seq)).toEqual(Array.from({ length: 250 }, (_, n) => n + 1))
    for (const format of ['md', 'html']) {
      const { text } = await call('GET', path + format)
      const asked = [...text.matchAll(/question (\d+)/g)].map(([, n]) => Number(n))
      expect(asked).toEqual(Array.from({ length: 249 }, (_, n) => n + 2))
    }
  }, 60_000)
})
