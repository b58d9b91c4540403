import { expect, test } from 'bun:test'
import { systemClock } from '../../core/clock.ts'
import { createReach, type Knock } from './happy-eyeballs.ts'

const v6 = (n: number) => ({ address: `2001:db8::${n}`, family: 6 })
const v4 = (n: number) => ({ address: `192.0.2.${n}`, family: 4 })

/** Waits are over when the test says so; addresses answer, fail or keep silent. */
function parts(answers: Readonly<Record<string, 'answers' | 'fails'>>) {
  const waits: { ms: number; end: () => void }[] = []
  const knocked: string[] = []
  const left: string[] = []
  const knock: Knock = ({ address }, _port, signal) => {
    knocked.push(address)
    if (answers[address] === 'answers') return Promise.resolve()
    if (answers[address] === 'fails') return Promise.reject(new Error('refused'))
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        left.push(address)
        reject(signal.reason)
      })
    })
  }
  const sleep = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      waits.push({ ms, end: resolve })
      signal?.addEventListener('abort', () => reject(signal.reason))
    })
  let end = () => {}
  const after = (_ms: number, task: () => void) => {
    end = task
    return () => {}
  }
  const clock = { ...systemClock(), sleep, after }
  return { reach: createReach({ clock, knock }), waits, knocked, left, end: () => end() }
}

test('an address that keeps silent is overtaken by the next of the other family', async () => {
  const { reach, waits, knocked, left } = parts({ '192.0.2.1': 'answers' })
  const reached = reach([v6(1), v6(2), v4(1)], 443)
  expect(waits.map(({ ms }) => ms)).toEqual([250, 500])
  waits[0]?.end()
  expect(await reached).toEqual(v4(1))
  expect(knocked).toEqual(['2001:db8::1', '192.0.2.1'])
  expect(left).toEqual(['2001:db8::1'])
})

test('an address that fails is followed at once', async () => {
  const { reach, knocked } = parts({ '2001:db8::1': 'fails', '192.0.2.1': 'answers' })
  expect(await reach([v6(1), v4(1), v4(2)], 443)).toEqual(v4(1))
  expect(knocked).toEqual(['2001:db8::1', '192.0.2.1'])
})

test('when all fail or keep silent, so does the host', async () => {
  const failing = parts({ '2001:db8::1': 'fails', '192.0.2.1': 'fails' })
  const failure = { message: 'no address of the host answers' }
  await expect(failing.reach([v6(1), v4(1)], 443)).rejects.toMatchObject(failure)
  const silent = parts({})
  const reached = silent.reach([v6(1), v4(1)], 443)
  silent.end()
  await expect(reached).rejects.toMatchObject(failure)
})

test('an abort ends the search with its reason', async () => {
  const { reach, knocked, left } = parts({})
  const caller = new AbortController()
  const reached = reach([v4(1), v4(2)], 443, caller.signal)
  while (knocked.length === 0) await Promise.resolve()
  const reason = new Error('client left')
  caller.abort(reason)
  expect(await reached.catch((error) => error)).toBe(reason)
  expect(left).toEqual(['192.0.2.1'])
  expect(knocked).toEqual(left)
})
