import { afterEach, expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/clock.ts'
import { NO_LOG } from '../../core/log.ts'
import type { UpstreamFetch } from '../../upstream/net/upstream-call.ts'
import { LlamaServer, type ModelEnd } from './server.ts'

const opened: LlamaServer[] = []
afterEach(() => Promise.all(opened.splice(0).map((server) => server.close())))

const ended: ModelEnd = { line: '', status: 'SIGKILL' }

/** A server whose programs are listed as they start, and answer as `answer` says; null: never. */
function start(answer: (url: string, port: number) => Response | null) {
  const clock = fakeClock({ timers: 'moved' })
  const programs: { readonly port: number; readonly end: () => void }[] = []
  const asked: string[] = []
  const fetch = async (url: string, init?: RequestInit) => {
    asked.push(url)
    return answer(url, programs.at(-1)?.port ?? 0) ?? aborted(init?.signal)
  }
  const server = new LlamaServer({
    name: 'moon',
    apiKey: 'secret',
    clock,
    log: NO_LOG,
    idleMs: 0,
    fetch: Object.assign(fetch, { unpacks: false } as const) as UpstreamFetch,
    start() {
      const { promise, resolve } = Promise.withResolvers<ModelEnd>()
      const port = 40_000 + programs.length
      programs.push({ port, end: () => resolve(ended) })
      return { port, kill: () => resolve(ended), exited: promise }
    },
  })
  opened.push(server)
  return { server, clock, programs, asked }
}

/** What a program that hangs answers. */
const aborted = (signal: AbortSignal | null | undefined) =>
  new Promise<Response>((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason))
  })

const healthy = () => new Response('ok')
const path = '/v1/chat/completions'
const ask = ({ server }: ReturnType<typeof start>, init: RequestInit = {}) =>
  server.fetch(server.endpoint.baseUrl.replace('/v1', path), init)

async function until(is: () => boolean): Promise<void> {
  while (!is()) await Bun.sleep(1)
}

test('a restarted model program is asked at its new port', async () => {
  const pack = start(healthy)
  await (await ask(pack)).text()
  expect(pack.asked.at(-1)).toBe(`http://127.0.0.1:40000${path}`)
  pack.programs[0]?.end()
  await until(() => pack.server.state === 'failed')
  pack.clock.advance(1_000)
  await (await ask(pack)).text()
  expect(pack.asked.at(-1)).toBe(`http://127.0.0.1:40001${path}`)
})

test('a program that hangs while it loads is ended and started again', async () => {
  const pack = start((_, port) => (port === 40_000 ? new Response('', { status: 503 }) : healthy()))
  const answer = ask(pack)
  await until(() => pack.asked.length > 0)
  pack.clock.advance(10 * 60_000)
  await until(() => pack.server.state === 'failed')
  pack.clock.advance(1_000)
  expect((await answer).status).toBe(200)
  expect(pack.programs).toHaveLength(2)
})

test.each(['waits', 'gives up'])(
  'a program that hangs while a request %s is ended and started again',
  async (what) => {
    let hangs = false
    const pack = start((_, port) => (hangs && port === 40_000 ? null : healthy()))
    await (await ask(pack)).text()
    hangs = true
    const client = new AbortController()
    const { length } = pack.asked
    ask(pack, { signal: client.signal }).catch(() => {})
    await until(() => pack.asked.length > length)
    if (what === 'gives up') client.abort()
    await until(() => {
      pack.clock.advance(5_000)
      return pack.programs.length === 2
    })
    expect((await ask(pack)).status).toBe(200)
  },
)

test('a program that says it is healthy may compute for as long as it needs', async () => {
  const pack = start((url) => (url.endsWith('/health') ? healthy() : null))
  void ask(pack)
  await until(() => {
    pack.clock.advance(5_000)
    return pack.asked.filter((url) => url.endsWith('/health')).length > 9
  })
  expect(pack.programs).toHaveLength(1)
  expect(pack.server.state).toBe('ready')
})

test('a program with an answer under way need not say that it is healthy', async () => {
  let looked = 0
  let isBusy = false
  const pack = start((url) => {
    if (!url.endsWith('/health')) return new Response(written.readable)
    if (isBusy) looked++
    return isBusy ? null : healthy()
  })
  const written = new TransformStream<Uint8Array>()
  const writer = written.writable.getWriter()
  const reader = (await ask(pack)).body?.getReader()
  isBusy = true
  for (let look = 0; look < 9; look++) {
    void writer.write(new Uint8Array(1))
    await reader?.read()
    pack.clock.advance(10_000)
  }
  expect(looked).toBe(0)
  expect(pack.server.state).toBe('ready')
})

test('who waits for a program that has failed is told when the server is closed', async () => {
  const pack = start(healthy)
  await (await ask(pack)).text()
  pack.programs[0]?.end()
  await until(() => pack.server.state === 'failed')
  const waiting = ask(pack).then(
    () => 'answered',
    (error) => error.reason,
  )
  pack.server.rest()
  expect(pack.server.state).toBe('failed')
  await pack.server.close()
  expect(await waiting).toBe('channel_unavailable')
})

test('a program that rests while it has failed starts at the next request', async () => {
  const pack = start(healthy)
  await (await ask(pack)).text()
  pack.programs[0]?.end()
  await until(() => pack.server.state === 'failed')
  pack.server.rest()
  expect((await ask(pack)).status).toBe(200)
  expect(pack.programs.length).toBe(2)
})
