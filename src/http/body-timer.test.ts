import { afterEach, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { AppError } from '../core/errors.ts'
import { IDLE_SECONDS_MAX } from '../core/limits/machine.ts'
import { createMemoryBudget } from '../core/memory-budget.ts'
import { readBytes } from './body.ts'
import { type BodyTimerOptions, createBodyTimers, withoutIdleTimeout } from './body-timer.ts'
import { createRequestMemory } from './request-memory.ts'

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
}, 20_000)

test('a body that goes on for ever is refused, however steadily it comes', async () => {
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
