import { expect, test } from 'bun:test'
import { orAborted } from './abort.ts'

test('raceAbort gives the result of the work and removes its listener', async () => {
  const controller = new AbortController()
  expect(await orAborted(Promise.resolve('done'), controller.signal)).toBe('done')
  const fault = new Error('fault')
  await expect(orAborted(Promise.reject(fault), controller.signal)).rejects.toBe(fault)
})

test('raceAbort rejects with the abort, before and during the work', async () => {
  const reason = new Error('client left')
  const controller = new AbortController()
  const { promise: endless } = Promise.withResolvers<never>()
  const waiting = orAborted(endless, controller.signal)
  controller.abort(reason)
  await expect(waiting).rejects.toBe(reason)
  await expect(orAborted(Promise.resolve('done'), controller.signal)).rejects.toBe(reason)
})

test('work that fails after the abort causes no unhandled rejection', async () => {
  const work = Promise.withResolvers<never>()
  const signal = AbortSignal.abort(new Error('client left'))
  await expect(orAborted(work.promise, signal)).rejects.toBe(signal.reason)
  work.reject(new Error('too late'))
})
