import { afterAll, beforeAll, expect, test } from 'bun:test'
import { caller } from '../support/api.ts'
import { createKey } from '../support/key.ts'
import { callsTool, type Memory } from '../support/memories.ts'
import { type Server, startServer } from '../support/server.ts'
import { postSse } from '../support/sse.ts'
import { tempFolder } from '../support/temp.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const folder = tempFolder()
let upstream: Upstream
let headers: Readonly<Record<string, string>>

beforeAll(async () => {
  upstream = await startUpstream()
  headers = (await createKey(folder.path)).headers
})
afterAll(async () => {
  await upstream.stop()
  folder[Symbol.dispose]()
})

const start = () =>
  startServer({
    dataDir: folder.path,
    env: { MB_LLM_BASE_URL: upstream.baseUrl, MB_LLM_MODEL: 'fake' },
  })
const callOf = ({ url }: Server) => caller(`${url}/v1`, headers)
const factsOf = async (server: Server) => {
  const { memories } = (
    await callOf(server)<{ memories: Memory[] }>('GET', '/memories?subject=ann')
  ).json()
  return memories.map(({ text }) => text).toSorted()
}

test('what a turn has told it remembered or forgot is so after kill -9', async () => {
  const first = await start()
  const { id } = (
    await callOf(first)<{ id: string }>('POST', '/apps', { name: 'a', memory: 'app' })
  ).json()
  const issued = await callOf(first)<{ key: string }>('POST', `/apps/${id}/keys`, {})
  const key = { authorization: `Bearer ${issued.json().key}` }

  /** Kills the server as soon as the turn has told what it wrote. */
  async function killedAtEvent(server: Server, tool: string, args: object) {
    callsTool(upstream, tool, args)
    const body = { text: 'hi', session_id: 's', subject: 'ann', kb: false }
    const stream = await postSse(`${server.url}/v1/agent`, { headers: key, body })
    for await (const { data } of stream) {
      if (data?.type !== 'memory') continue
      await server.kill()
      return data as unknown as { readonly id: string }
    }
    throw new Error('the turn told no write')
  }

  const told = await killedAtEvent(first, 'remember', { text: 'Has a parrot' })
  const second = await start()
  expect(await factsOf(second)).toEqual(['Has a parrot'])
  const more = { subject: 'ann', text: 'Has a cat', app_id: id }
  const cat = (await callOf(second)<Memory>('POST', '/memories', more)).json()
  await killedAtEvent(second, 'forget', { id: told.id })

  const third = await start()
  expect(await factsOf(third)).toEqual(['Has a cat'])
  expect((await callOf(third)('DELETE', `/memories/${cat.id}`)).status).toBe(200)
  await third.kill()
  await using fourth = await start()
  expect(await factsOf(fourth)).toEqual([])
}, 60_000)
