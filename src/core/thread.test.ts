import { expect, test } from 'bun:test'
import { createRestartingThread, startThread } from './thread.ts'

/** Answers with what it was asked, and leaves or fails when it is told to. */
const ECHO = URL.createObjectURL(
  new Blob([
    `onmessage = ({ data }) => {
      if (data === 'leave') process.exit(0)
      if (data === 'fail') throw new Error('broken')
      if (data !== 'wait') postMessage(data)
    }`,
  ]),
)

const start = (onEnd = () => {}) =>
  startThread<string, string>({ url: ECHO, ended: (reason) => new Error(`gone: ${reason}`), onEnd })

test.each([
  ['leave', 'its thread ended'],
  ['fail', 'broken'],
])(
  'a thread that is told to %s fails its request, and each later one at once',
  async (how, why) => {
    let ends = 0
    const thread = start(() => ends++)
    expect(await thread.ask('a')).toBe('a')
    await expect(thread.ask(how)).rejects.toThrow(why)
    expect(thread.isOpen()).toBe(false)
    await expect(thread.ask('b')).rejects.toThrow(why)
    thread.tell('c')
    thread.end()
    expect(ends).toBe(1)
  },
)

test('a thread that is ended fails the request that it has', async () => {
  const thread = start()
  const waiting = thread.ask('wait')
  thread.end()
  await expect(waiting).rejects.toThrow('gone: it was ended')
})

test('a message that cannot be sent fails, and the next request is answered', async () => {
  const thread = startThread<unknown, unknown>({ url: ECHO, ended: () => new Error('gone') })
  await expect((async () => thread.ask(() => {}))()).rejects.toThrow()
  expect(await thread.ask('a')).toBe('a')
  thread.end()
})

test('a thread that leaves twice is started twice, and opened each time', async () => {
  let opened = 0
  const thread = createRestartingThread(start, async () => opened++)
  expect(thread.isReady()).toBe(false)
  for (let time = 1; time <= 3; time++) {
    const [one, same] = await Promise.all([thread.get(), thread.get()])
    expect(one).toBe(same)
    expect([opened, thread.isReady()]).toEqual([time, true])
    await expect(one.ask('leave')).rejects.toThrow('gone')
    expect([thread.isReady(), await thread.current()]).toEqual([false, null])
  }
})

test('a thread that cannot be opened ends, and the next caller starts another', async () => {
  let tries = 0
  const thread = createRestartingThread(start, async () => {
    if (++tries === 1) throw new Error('not yet')
  })
  await expect(thread.get()).rejects.toThrow('not yet')
  const next = await thread.get()
  expect(await next.ask('a')).toBe('a')
  next.end()
})
