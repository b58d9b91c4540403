import { expect, test } from 'bun:test'
import { createSemaphore } from './semaphore.ts'

/** Work that notes its start and ends when told to. */
function jobs() {
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const work = (name: string) => () => {
    started.push(name)
    return new Promise<void>((resolve) => ends.set(name, resolve))
  }
  return { started, work, end: (name: string) => ends.get(name)?.() }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('a semaphore key that is alone uses every slot', async () => {
  const { started, work } = jobs()
  const { run } = createSemaphore({ slots: 3 })
  for (const name of ['a1', 'a2', 'a3', 'a4']) void run('a', work(name))
  await settled()
  expect(started).toEqual(['a1', 'a2', 'a3'])
})

test('a free slot goes to the key that was served least recently', async () => {
  const { started, work, end } = jobs()
  const { run } = createSemaphore({ slots: 1 })
  for (const name of ['a1', 'a2', 'a3']) void run('a', work(name))
  void run('b', work('b1'))
  for (const name of ['a1', 'a2', 'b1']) {
    await settled()
    end(name)
  }
  await settled()
  expect(started).toEqual(['a1', 'a2', 'b1', 'a3'])
})

test('a key over its own limit does not stop the keys behind it', async () => {
  const { started, work } = jobs()
  const { run } = createSemaphore({ slots: 3, perKey: 1 })
  for (const name of ['a1', 'a2']) void run('a', work(name))
  void run('b', work('b1'))
  await settled()
  expect(started).toEqual(['a1', 'b1'])
})

test('work whose signal aborts while it waits never starts', async () => {
  const { started, work, end } = jobs()
  const { run } = createSemaphore({ slots: 1 })
  void run('a', work('a1'))
  const controller = new AbortController()
  const given = run('a', work('a2'), controller.signal)
  controller.abort(new Error('gone'))
  expect(given).rejects.toThrow('gone')
  await settled()
  end('a1')
  await settled()
  expect(started).toEqual(['a1'])
})

test('a semaphore slot that is given back twice counts once', async () => {
  const { started, work } = jobs()
  const { acquire, run } = createSemaphore({ slots: 1 })
  const release = await acquire('a')
  release()
  release()
  void run('a', work('a1'))
  void run('a', work('a2'))
  await settled()
  expect(started).toEqual(['a1'])
})

test('work that throws gives its semaphore slot back', async () => {
  const { started, work } = jobs()
  const { run } = createSemaphore({ slots: 1 })
  await expect(run('a', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  void run('b', work('b1'))
  await settled()
  expect(started).toEqual(['b1'])
})

test('work that throws before it waits gives its slot back', async () => {
  const { started, work } = jobs()
  const { held, run } = createSemaphore({ slots: 1 })
  const thrown = run('a', () => {
    throw new Error('at once')
  })
  await expect(thrown).rejects.toThrow('at once')
  expect(held()).toBe(0)
  void run('a', work('next'))
  await settled()
  expect(started).toEqual(['next'])
})
