import { expect, test } from 'bun:test'
import { type Clock, systemClock } from '../../core/clock.ts'
import { createStatus, type Probe } from './status.ts'

/** A clock that tests move; `fire` runs its timers. */
function standing() {
  let now = 0
  let wall = 0
  const waiting: (() => void)[] = []
  const clock: Clock = {
    ...systemClock(),
    now: () => (wall -= 60_000),
    steady: () => now,
    after(_ms, task) {
      waiting.push(task)
      return () => {}
    },
  }
  return { clock, set: (ms: number) => (now = ms), fire: () => waiting.map((task) => task()) }
}

const good: Probe = { name: 'good', run: async () => ({ state: 'ok', class: 'ok' }) }
const bad: Probe = { name: 'bad', run: async () => Promise.reject(new Error('key=SECRET')) }

test('a probe that throws counts as down and its message is not shown', async () => {
  const { clock } = standing()
  const report = await createStatus({ clock, probes: [good, bad], vital: 'good' }).read()
  expect(report.status).toBe('degraded')
  expect(report.checks[1]).toEqual({ name: 'bad', state: 'down', class: 'error', latency_ms: 0 })
  expect(JSON.stringify(report)).not.toContain('SECRET')
})

test('the status is down when the vital probe is down', async () => {
  const { clock } = standing()
  const status = createStatus({ clock, probes: [good, bad], vital: 'bad' })
  expect((await status.read()).status).toBe('down')
})

test('a probe that hangs is reported as a timeout and aborted', async () => {
  const { clock, fire } = standing()
  let told = false
  const hanging: Probe = {
    name: 'hanging',
    run: (signal) =>
      new Promise(() => {
        signal.addEventListener('abort', () => (told = true))
      }),
  }
  const reading = createStatus({ clock, probes: [hanging], vital: 'x' }).read()
  fire()
  expect((await reading).checks[0]).toMatchObject({ state: 'down', class: 'timeout' })
  expect(told).toBe(true)
})

test('dependencies are asked once in five seconds, whatever the wall clock says', async () => {
  const { clock, set } = standing()
  let asked = 0
  const counting: Probe = {
    name: 'counting',
    run: async () => {
      asked++
      return { state: 'ok', class: 'ok' }
    },
  }
  const status = createStatus({ clock, probes: [counting], vital: 'x' })
  set(10_000)
  await Promise.all([status.read(), status.read()])
  set(14_999)
  await status.read()
  expect(asked).toBe(1)
  set(15_000)
  await status.read()
  expect(asked).toBe(2)
})
