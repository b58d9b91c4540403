import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createKey } from '../support/key.ts'
import { run } from '../support/run.ts'
import { type Server, startServer } from '../support/server.ts'
import { tempFolder } from '../support/temp.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { connectWyoming } from '../support/wyoming-client.ts'

let upstream: Upstream
let token: string
const folder = tempFolder()

beforeAll(async () => {
  upstream = await startUpstream()
  token = (await createKey(folder.path)).key
})
afterAll(async () => {
  await upstream.stop()
  folder[Symbol.dispose]()
})

const envOf = (port: number, more: Record<string, string> = {}) => ({
  ...{ MB_LLM_BASE_URL: upstream.baseUrl, MB_LLM_MODEL: 'fake', MB_TTS_BASE_URL: upstream.baseUrl },
  ...{ MB_WYOMING_PORT: String(port), MB_WYOMING_KEY: token, ...more },
})
const start = (port: number, more: Record<string, string> = {}) =>
  startServer({ dataDir: folder.path, env: envOf(port, more) })

/** The port that a server has told to listen on for Wyoming. */
const portOf = ({ printed }: Server) =>
  printed.until((text) => {
    const line = text.split('\n').find((one) => one.includes('"wyoming listens"'))
    return line === undefined ? null : (JSON.parse(line) as { port: number }).port
  })

test('a server that dies in the middle of a speech speaks again after its start', async () => {
  upstream.speech.reply({ ms: 60_000, hangAfter: 5 })
  let port = 0
  {
    await using server = await start(0)
    port = await portOf(server)
    await using client = await connectWyoming(port)
    client.send('synthesize', { text: '很长。' })
    expect(await client.next()).toMatchObject({ type: 'audio-start' })
    await server.kill()
    await client.closed()
  }
  await using server = await start(port)
  expect(await portOf(server)).toBe(port)
  await using client = await connectWyoming(port)
  client.send('synthesize', { text: '再来。' })
  expect((await client.until('audio-stop')).at(-1)?.type).toBe('audio-stop')
  expect(server.output()).toContain(`"wyoming":"127.0.0.1:${port}"`)
  const { out } = await run(['doctor'], folder.path, envOf(port))
  expect(out).toContain(`answers at 127.0.0.1:${port}`)
  const taken = await run(['serve'], tempFolder().path, envOf(port, { MB_PORT: '0' }))
  expect([taken.code, taken.err]).toEqual([1, expect.stringContaining(`MB_WYOMING_PORT ${port}`)])
}, 60_000)

test('a server that is told to stop ends the conversation that it is in', async () => {
  await using server = await start(0, { MB_HOST: '0.0.0.0' })
  const port = await portOf(server)
  expect(server.output()).toContain('wyoming is open to the network')
  const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  upstream.reply(() => {
    asked.resolve()
    return { pieces: ['好', '的。'], hold: { after: 1, until: gate.promise } }
  })
  await using idle = await connectWyoming(port)
  await using client = await connectWyoming(port)
  client.send('transcript', { text: '在吗', context: { conversation_id: 'c' } })
  await asked.promise
  const stopped = server.stop()
  await idle.closed()
  gate.resolve()
  expect(await client.next()).toMatchObject({ type: 'handled', data: { text: '好的。' } })
  expect(await stopped).toBe(0)
}, 60_000)

test('one setting of Wyoming without the other stops the start', async () => {
  const { code, err } = await run(['serve'], folder.path, { MB_WYOMING_PORT: '10400' })
  expect([code, err]).toEqual([1, expect.stringContaining('MB_WYOMING_KEY')])
})
