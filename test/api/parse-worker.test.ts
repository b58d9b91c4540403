import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { ENDLESS_PAGE } from '../support/documents.ts'
import { type CreatedKey, createKey } from '../support/key.ts'
import { type Server, startServer } from '../support/server.ts'
import { tempFolder } from '../support/temp.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let server: Server
let upstream: Upstream
let pages: Bun.Server<undefined>
let key: CreatedKey
let pagesAsked = 0
const folder = tempFolder()

/** 999 open elements, and end tags that are each looked for among all of them. */
const SLOW = `<p>Read.${'<b>'.repeat(999)}${'</i>'.repeat(51_200)}`

beforeAll(async () => {
  upstream = await startUpstream()
  pages = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      pagesAsked++
      const body = request.url.endsWith('/slow') ? SLOW : '<title>T</title><p>Hello <b>you</b>'
      return new Response(body, { headers: { 'content-type': 'text/html' } })
    },
  })
  const env = {
    MB_LLM_BASE_URL: upstream.baseUrl,
    MB_LLM_MODEL: 'fake',
    MB_LLM_API_KEY: 'sk-secret',
    MB_ALLOW_PRIVATE_HOSTS: `127.0.0.1:${pages.port}`,
  }
  server = await startServer({ dataDir: folder.path, env })
  key = await createKey(folder.path)
})
afterAll(async () => {
  await server?.stop()
  await upstream?.stop()
  await pages?.stop(true)
  folder[Symbol.dispose]()
})

/** What the model was told of these pages, in one turn. */
async function read(...paths: readonly string[]): Promise<string[]> {
  const calls = paths.map((path, i) => ({
    id: `c${i}`,
    name: 'fetch_url',
    arguments: JSON.stringify({ url: `http://127.0.0.1:${pages.port}${path}` }),
  }))
  upstream.reply({ toolCalls: calls })
  upstream.reply({ text: '读完了' })
  const body = JSON.stringify({ text: '读这些网页' })
  const turn = { method: 'POST', headers: key.headers, body }
  await (await fetch(`${server.url}/v1/agent`, turn)).text()
  const messages = (upstream.requests.at(-1)?.body.messages ?? []) as {
    role: string
    content: string
  }[]
  return messages.filter(({ role }) => role === 'tool').map(({ content }) => content)
}

/** The parse workers that the server has started (proc(5)). */
function workers({ pid } = server): string[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  const pids = children.split(' ').filter(Boolean)
  return pids.filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('parse-worker'))
}

/** Processor time of a process or thread, in hundredths of a second. */
function ticks(path: string): number {
  const stat = readFileSync(`${path}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}

test('the parse process gets no environment variable of the server', async () => {
  expect(workers()).toEqual([])
  const [page] = await read('/page')
  expect(page).toContain('Title: T')
  expect(page).toContain('Hello you')
  const [worker] = workers()
  const names = readFileSync(`/proc/${worker}/environ`, 'utf8').match(/^[^=]+|(?<=\0)[^=]+/g)
  // The first two name the pipe to the server.
  const allowed = ['NODE_CHANNEL_FD', 'NODE_CHANNEL_SERIALIZATION_MODE']
  allowed.push('BUN_ENABLE_CRASH_REPORTING', 'BUN_FEATURE_FLAG_NO_ORPHANS', 'DO_NOT_TRACK')
  allowed.push('ORT_DISABLE_TELEMETRY')
  expect(names?.toSorted()).toEqual(allowed.toSorted())
})

test('slow pages use up the time of the parse process only', async () => {
  await read('/page')
  const server_ = `/proc/${server.pid}/task/${server.pid}`
  const before = { server: ticks(server_), workers: workers().map((pid) => ticks(`/proc/${pid}`)) }
  const asked = pagesAsked
  const texts = await read(...new Array(40).fill('/slow'))
  expect(pagesAsked - asked).toBe(40)
  for (const text of texts) expect(text).toContain('Read.')
  const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0)
  const inWorkers = sum(workers().map((pid) => ticks(`/proc/${pid}`))) - sum(before.workers)
  expect(ticks(server_) - before.server).toBeLessThan(inWorkers)
}, 60_000)

test('a parse process that dies is replaced for the next page', async () => {
  await read('/page')
  for (const pid of workers()) process.kill(Number(pid), 'SIGKILL')
  const [page] = await read('/page')
  expect(page).toContain('Hello you')
})

test('a file that takes long to read holds up no file of another tenant', async () => {
  const [slow, other] = [key, await createKey(folder.path, { email: 'other@example.com' })]
  async function upload({ headers }: CreatedKey, name: string, text: string) {
    const body = new FormData()
    body.set('file', new File([text], name))
    const answer = await fetch(`${server.url}/v1/kb/files`, { method: 'POST', headers, body })
    return ((await answer.json()) as { id: string }).id
  }
  async function stateOf({ headers }: CreatedKey, id: string) {
    const answer = await fetch(`${server.url}/v1/kb/sources/${id}`, { headers })
    return ((await answer.json()) as { state: string }).state
  }
  const endless: string[] = []
  for (const name of ['a.html', 'b.html']) endless.push(await upload(slow, name, ENDLESS_PAGE))
  while (workers().every((pid) => ticks(`/proc/${pid}`) < 100)) await Bun.sleep(10)
  const short = await upload(other, 'c.txt', '十个字节')
  while ((await stateOf(other, short)) !== 'ready') await Bun.sleep(10)
  for (const id of endless) expect(await stateOf(slow, id)).toBe('reading')
  for (const id of endless) {
    const url = `${server.url}/v1/kb/sources/${id}`
    await fetch(url, { method: 'DELETE', headers: slow.headers })
  }
  while (workers().length > 2) await Bun.sleep(10)
}, 120_000)

test('a parse process that is busy with a file ends with a server that is killed', async () => {
  using other = tempFolder()
  const killed = await startServer({ dataDir: other.path })
  const { headers } = await createKey(other.path)
  const body = new FormData()
  body.set('file', new File([ENDLESS_PAGE], 'a.html'))
  const upload = { method: 'POST', headers, body }
  expect((await fetch(`${killed.url}/v1/kb/files`, upload)).status).toBe(202)
  while (workers(killed).every((pid) => ticks(`/proc/${pid}`) < 100)) await Bun.sleep(10)
  const [worker] = workers(killed)
  await killed.kill()
  while (existsSync(`/proc/${worker}`)) await Bun.sleep(10)
}, 60_000)
