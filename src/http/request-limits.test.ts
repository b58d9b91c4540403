import { afterEach, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { AppError } from '../core/errors.ts'
import { BODY_COST, IDLE_SECONDS_MAX } from '../core/limits/machine.ts'
import { createMemoryBudget } from '../core/memory-budget.ts'
import { readBytes } from './body.ts'
import {
  type BodyTimerOptions,
  createBodyTimers,
  createRequestMemory,
  createStreamSlots,
  withoutIdleTimeout,
} from './request-limits.ts'

let server: Bun.Server<undefined> | null = null
afterEach(() => server?.stop(true))

const never = () => Promise.reject(new Error('not parsed here'))

/** A server without a limit of its own, which tells what it read or why it did not. */
function serve(options: Omit<BodyTimerOptions, 'memory'>) {
  const bodyTimerFor = createBodyTimers({
    memory: createRequestMemory(createMemoryBudget(100_000_000)),
    ...options,
  })
  const read = Promise.withResolvers<unknown>()
  const port = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request, self) {
      const upload = {
        timer: bodyTimerFor(request, self, 'tenant'),
        confirm: async () => {},
        keepOpen: () => {},
        hold: () => {},
        parse: never,
      }
      const bytes = readBytes(request, 1_000_000, upload)
      read.resolve(await bytes.catch((error) => error))
      return new Response()
    },
  })
  server = port
  const socket = connect(port.port ?? 0, '127.0.0.1')
  socket.on('error', () => {})
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n')
  return { socket, read: read.promise }
}

test('a body that stops arriving is cut off', async () => {
  const { socket, read } = serve({ steady: () => 0, stallSeconds: 4 })
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.write('a')
  expect(await read).toMatchObject({ name: 'AbortError' })
  await closed
}, 60_000)

test('an endless body is refused, however steadily it arrives', async () => {
  let now = 0
  const { socket, read } = serve({ steady: () => now, bodyMsMax: 1_000 })
  const timer = setInterval(() => {
    now += 400
    socket.write('a')
  }, 10)
  const error = await read
  clearInterval(timer)
  socket.destroy()
  expect(error).toBeInstanceOf(AppError)
  expect(error).toMatchObject({ status: 400 })
})

test('long work restores the idle timeout of its connection, however it ends', async () => {
  const limits: number[] = []
  const connections = { timeout: (_: Request, seconds: number) => void limits.push(seconds) }
  const request = new Request('http://x/')
  const work = async () => [...limits]
  expect(await withoutIdleTimeout(request, connections, work)).toEqual([0])
  const failing = () => Promise.reject(new Error('no'))
  await expect(withoutIdleTimeout(request, connections, failing)).rejects.toThrow('no')
  expect(limits).toEqual([0, IDLE_SECONDS_MAX, 0, IDLE_SECONDS_MAX])
})

const request = () => new Request('http://localhost/')
/** A budget that bodies of `bytes` use up. */
const memoryOf = (bytes: number) => {
  const budget = createMemoryBudget(bytes * BODY_COST)
  return { budget, memory: createRequestMemory(budget) }
}

/** The status of a refusal, null when there was room. */
function refusal(work: () => void): number | null {
  try {
    work()
    return null
  } catch (error) {
    if (error instanceof AppError && error.headers['retry-after'] === '1') return error.status
    throw error
  }
}

test('bodies of one owner leave a ninth of the memory to the others', () => {
  const { memory } = memoryOf(900)
  const first = request()
  memory.add(first, 'a', 400)
  memory.add(first, 'a', 400)
  expect(refusal(() => memory.add(first, 'a', 1))).toBe(503)
  memory.add(request(), 'b', 80)
})

test('an answered request gives its memory back', () => {
  const { memory, budget } = memoryOf(900)
  const one = request()
  memory.add(one, 'a', 400)
  memory.add(one, 'a', 400)
  memory.release(one)
  memory.release(request())
  expect(budget.used).toBe(0)
})

test('a stream keeps the body of its request counted until it ends', () => {
  const { memory, budget } = memoryOf(900)
  const one = request()
  memory.add(one, 'a', 500)
  const release = memory.keep(one)
  memory.release(one)
  expect(budget.used).toBe(500 * BODY_COST)
  release()
  expect(budget.used).toBe(0)
})

test('a stream without a large body keeps nothing', () => {
  const { memory, budget } = memoryOf(900)
  memory.keep(request())()
  expect(budget.used).toBe(0)
})

type Slots = ReturnType<typeof createStreamSlots>

function opens(slots: Slots, owner: string): boolean {
  try {
    slots.check(owner)
  } catch (error) {
    expect((error as AppError).status).toBe(503)
    expect((error as AppError).headers['retry-after']).toBe('1')
    return false
  }
  slots.take(owner)
  return true
}

/** How many streams an owner gets, opening one after another. */
function fill(slots: Slots, owner: string): number {
  let count = 0
  while (opens(slots, owner)) count++
  return count
}

test('an owner that is alone may open as many streams as the server has', () => {
  for (const most of [1, 2, 10, 10_000]) {
    expect(
      fill(
        createStreamSlots(
          () => most,
          () => 0,
        ),
        'alone',
      ),
    ).toBe(most)
  }
})

test('slots that become free go to an owner that was refused below its share', () => {
  const slots = createStreamSlots(
    () => 10,
    () => 0,
  )
  expect(fill(slots, 'greedy')).toBe(10)
  expect(opens(slots, 'modest')).toBe(false)
  for (let count = 0; count < 5; count++) {
    slots.giveBack('greedy')
    expect(opens(slots, 'greedy')).toBe(false)
    expect(opens(slots, 'modest')).toBe(true)
  }
  slots.giveBack('greedy')
  expect(opens(slots, 'greedy')).toBe(true)
})

test('a claim that is not renewed ends, and every slot is used again', () => {
  let now = 0
  const slots = createStreamSlots(
    () => 10,
    () => now,
  )
  expect(fill(slots, 'greedy')).toBe(10)
  expect(opens(slots, 'modest')).toBe(false)
  slots.giveBack('greedy')
  expect(opens(slots, 'greedy')).toBe(false)
  now = 10_000
  expect(opens(slots, 'greedy')).toBe(true)
})

test('an owner at its share leaves no claim when it is refused', () => {
  const slots = createStreamSlots(
    () => 2,
    () => 0,
  )
  expect([opens(slots, 'a'), opens(slots, 'b')]).toEqual([true, true])
  expect([opens(slots, 'a'), opens(slots, 'b')]).toEqual([false, false])
  slots.giveBack('b')
  expect(opens(slots, 'a')).toBe(true)
})

test('a slot that is given back can be taken again', () => {
  const slots = createStreamSlots(
    () => 1,
    () => 0,
  )
  slots.take('a')
  expect(opens(slots, 'b')).toBe(false)
  slots.giveBack('a')
  expect(opens(slots, 'b')).toBe(true)
})
