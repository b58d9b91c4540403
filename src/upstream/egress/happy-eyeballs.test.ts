import { expect, test } from 'bun:test'
import { systemClock } from '../../core/clock.ts'
import { createHappyEyeballs, type ProbeConnect } from './happy-eyeballs.ts'

const v6 = (n: number) => ({ address: `2001:db8::${n}`, family: 6 })
const v4 = (n: number) => ({ address: `192.0.2.${n}`, family: 4 })

/** Waits end when the test says so; addresses answer, fail or stay silent. */
function parts(answers: Readonly<Record<string, 'answers' | 'fails'>>) {
  const waits: { ms: number; end: () => void }[] = []
  const tried: string[] = []
  const left: string[] = []
  const probeConnect: ProbeConnect = ({ address }, _port, signal) => {
    tried.push(address)
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
  return {
    choose: createHappyEyeballs({ clock, probeConnect }),
    waits,
    tried,
    left,
    end: () => end(),
  }
}

test('a silent address is overtaken by the next one of the other family', async () => {
  const { choose, waits, tried, left } = parts({ '192.0.2.1': 'answers' })
  const chosen = choose([v6(1), v6(2), v4(1)], 443)
  expect(waits.map(({ ms }) => ms)).toEqual([250, 500])
  waits[0]?.end()
  expect(await chosen).toEqual(v4(1))
  expect(tried).toEqual(['2001:db8::1', '192.0.2.1'])
  expect(left).toEqual(['2001:db8::1'])
})

test('the next address is tried at once when one fails', async () => {
  const { choose, tried } = parts({ '2001:db8::1': 'fails', '192.0.2.1': 'answers' })
  expect(await choose([v6(1), v4(1), v4(2)], 443)).toEqual(v4(1))
  expect(tried).toEqual(['2001:db8::1', '192.0.2.1'])
})

test('a host fails when all of its addresses fail or stay silent', async () => {
  const failing = parts({ '2001:db8::1': 'fails', '192.0.2.1': 'fails' })
  const failure = { message: 'no address of the host answers' }
  await expect(failing.choose([v6(1), v4(1)], 443)).rejects.toMatchObject(failure)
  const silent = parts({})
  const chosen = silent.choose([v6(1), v4(1)], 443)
  silent.end()
  await expect(chosen).rejects.toMatchObject(failure)
})

test('an abort ends the choice of an address with its reason', async () => {
  const { choose, tried, left } = parts({})
  const caller = new AbortController()
  const chosen = choose([v4(1), v4(2)], 443, caller.signal)
  while (tried.length === 0) await Promise.resolve()
  const reason = new Error('client left')
  caller.abort(reason)
  expect(await chosen.catch((error) => error)).toBe(reason)
  expect(left).toEqual(['192.0.2.1'])
  expect(tried).toEqual(left)
})
