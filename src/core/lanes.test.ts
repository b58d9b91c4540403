import { expect, test } from 'bun:test'
import { createLanes } from './lanes.ts'

/** Work that says when it begins and ends when it is told. */
function piece() {
  const begun = Promise.withResolvers<void>()
  const done = Promise.withResolvers<string>()
  const work = () => {
    begun.resolve()
    return done.promise
  }
  return { work, begun: begun.promise, done }
}

test('as many as may run at a time, the others in their order', async () => {
  const run = createLanes(2)
  const order: string[] = []
  const gate = Promise.withResolvers<void>()
  const all = ['a', 'b', 'c', 'd'].map((name) =>
    run('lane', async () => {
      order.push(name)
      await gate.promise
      return name
    }),
  )
  await Promise.resolve()
  expect(order).toEqual(['a', 'b'])
  gate.resolve()
  expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd'])
  expect(order).toEqual(['a', 'b', 'c', 'd'])
})

test('lanes do not wait for each other, and a failure lets the next one in', async () => {
  const run = createLanes(1)
  const [first, second, other] = [piece(), piece(), piece()]
  const failing = run('a', first.work)
  const waiting = run('a', second.work)
  const elsewhere = run('b', other.work)
  await other.begun
  other.done.resolve('b')
  expect(await elsewhere).toBe('b')
  first.done.reject(new Error('broken'))
  expect(await failing.catch(String)).toBe('Error: broken')
  await second.begun
  second.done.resolve('a')
  expect(await waiting).toBe('a')
})

test('who gives up waiting is never begun and takes no place', async () => {
  const run = createLanes(1)
  const [first, third] = [piece(), piece()]
  const leaving = new AbortController()
  let begun = false
  const running = run('a', first.work)
  const givenUp = run(
    'a',
    async () => {
      begun = true
    },
    leaving.signal,
  )
  const last = run('a', third.work)
  leaving.abort(new Error('left'))
  expect(await givenUp.catch(String)).toBe('Error: left')
  first.done.resolve('first')
  third.done.resolve('third')
  expect([await running, await last, begun]).toEqual(['first', 'third', false])
})

test('a place that is given in the moment of giving up goes on to the next', async () => {
  const run = createLanes(1)
  const first = piece()
  const leaving = new AbortController()
  const running = run('a', first.work)
  const givenUp = run('a', async () => 'begun', leaving.signal).catch(() => 'gave up')
  const last = run('a', async () => 'last')
  first.done.resolve('first')
  await running
  leaving.abort(new Error('left'))
  expect(['begun', 'gave up']).toContain(await givenUp)
  expect(await last).toBe('last')
})
