import { afterEach, expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/clock.ts'
import { NO_LOG } from '../../core/log.ts'
import type { UpstreamFetch } from '../net/upstream-call.ts'
import { LlamaServer } from './server.ts'

const opened: LlamaServer[] = []
afterEach(() => Promise.all(opened.splice(0).map((server) => server.close())))

/** A server whose programs are listed as they start, and answer as `answer` says. */
function start(answer: (url: string, port: number) => Response) {
  const clock = fakeClock({ timers: 'moved' })
  const programs: { readonly port: number; readonly end: () => void }[] = []
  const asked: string[] = []
  const fetch = async (url: string) => {
    asked.push(url)
    return answer(url, programs.at(-1)?.port ?? 0)
  }
  const server = new LlamaServer({
    ...{ name: 'moon', apiKey: 'secret', clock, log: NO_LOG, idleMs: 0 },
    fetch: Object.assign(fetch, { unpacks: false } as const) as UpstreamFetch,
    start() {
      const { promise, resolve } = Promise.withResolvers<string>()
      const port = 40_000 + programs.length
      programs.push({ port, end: () => resolve('') })
      return { port, kill: () => resolve(''), exited: promise }
    },
  })
  opened.push(server)
  return { server, clock, programs, asked }
}

const healthy = () => new Response('ok')
const path = '/v1/chat/completions'
const ask = ({ server }: ReturnType<typeof start>) =>
  server.fetch(server.endpoint.baseUrl.replace('/v1', path), {})

async function until(is: () => boolean): Promise<void> {
  while (!is()) await Bun.sleep(1)
}

test('a program that is started again is asked at its own port', async () => {
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
