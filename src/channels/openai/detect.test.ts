import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { startUpstream, type Upstream } from '../../../test/support/upstream.ts'
import { systemClock } from '../../core/clock.ts'
import { createUpstreamFetch } from '../../upstream/net/upstream-call.ts'
import { detectLocalServer } from './detect.ts'

let first: Upstream
let second: Upstream
beforeAll(async () => {
  first = await startUpstream()
  second = await startUpstream()
})
afterAll(() => Promise.all([first.stop(), second.stop()]))
beforeEach(() => {
  first.reset()
  second.reset()
})

const look = (timeoutMs = 5000) =>
  detectLocalServer({
    fetch: createUpstreamFetch(fetch),
    clock: systemClock(),
    timeoutMs,
    candidates: [
      { name: 'Ollama', port: first.port },
      { name: 'LM Studio', port: second.port },
    ],
  })

test('the first local model server in order is found, with its chat model', async () => {
  first.models.always({ ids: ['nomic-embed-text:latest', 'qwen3:4b'] })
  expect(await look()).toEqual({ name: 'Ollama', baseUrl: first.baseUrl, model: 'qwen3:4b' })
})

const unusable: readonly (readonly [string, (server: Upstream) => void])[] = [
  ['lists embedding models only', (server) => server.models.reply({ ids: ['bge-m3:latest'] })],
  ['lists nothing', (server) => server.models.reply({ ids: [] })],
  ['is something else', (server) => server.models.fault('html')],
  ['answers 404', (server) => server.models.fault(404)],
  ['redirects', (server) => server.models.fault('redirect', { location: server.baseUrl })],
  ['breaks off', (server) => server.models.alwaysFault('reset')],
  ['lists things without names', (server) => server.models.reply({ ids: [7, null] as never })],
]
for (const [name, prepare] of unusable) {
  test(`the detection skips a server that ${name}`, async () => {
    prepare(first)
    expect((await look())?.name).toBe('LM Studio')
  })
}

test('the detection skips a server that does not answer in time and leaves it', async () => {
  first.models.fault('silent')
  expect((await look(200))?.name).toBe('LM Studio')
  await first.aborted()
})

test('the detection finds nothing when no server answers', async () => {
  const gone = await startUpstream()
  await gone.stop()
  const candidates = [{ name: 'Ollama', port: gone.port }]
  const options = { fetch: createUpstreamFetch(fetch), clock: systemClock(), candidates }
  expect(await detectLocalServer(options)).toBeNull()
})
