import { expect, test } from 'bun:test'
import { createTurnQueue } from './turn-queue.ts'

const never = new AbortController().signal

test('turns of one session run one after another, those of others beside them', async () => {
  const queue = createTurnQueue()
  const gate = Promise.withResolvers<void>()
  const seen: string[] = []
  const turn = (name: string) => async (waited: boolean) => {
    seen.push(`${name} ${waited}`)
    await gate.promise
    seen.push(`${name} ends`)
  }
  const all = [
    queue.run('s', never, turn('a')),
    queue.run('s', never, turn('b')),
    queue.run('t', never, turn('c')),
  ]
  expect(seen).toEqual(['a false', 'c false'])
  gate.resolve()
  await Promise.all(all)
  expect(seen.indexOf('a ends')).toBeLessThan(seen.indexOf('b true'))
  expect(seen.at(-1)).toBe('b ends')
})

test('a turn that gives up waiting neither runs nor lets the next one pass', async () => {
  const queue = createTurnQueue()
  const gate = Promise.withResolvers<void>()
  const seen: string[] = []
  const first = queue.run('s', never, async () => {
    await gate.promise
    seen.push('first ends')
  })
  const leaver = new AbortController()
  const second = queue.run('s', leaver.signal, async () => {
    seen.push('second')
  })
  leaver.abort()
  await second
  const third = queue.run('s', never, async () => {
    seen.push('third')
  })
  await Promise.resolve()
  expect(seen).toEqual([])
  gate.resolve()
  await Promise.all([first, third])
  expect(seen).toEqual(['first ends', 'third'])
})

test('a turn that fails holds nobody up', async () => {
  const queue = createTurnQueue()
  const failing = queue.run('s', never, () => Promise.reject(new Error('no')))
  const next = queue.run('s', never, async () => {})
  await expect(failing).rejects.toThrow('no')
  await next
})
