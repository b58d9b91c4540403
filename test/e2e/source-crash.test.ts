import { expect, test } from 'bun:test'
import { readdirSync, rmSync } from 'node:fs'
import type { Source } from '../../src/features/knowledge/sources/model.ts'
import { openBoxFile } from '../support/box-file.ts'
import { createKey } from '../support/key.ts'
import { startPageServer } from '../support/page-server.ts'
import { type Server, startServer } from '../support/server.ts'
import { type TempFolder, tempFolder } from '../support/temp.ts'

/** Embeds every text to one vector, and the third part not before `release` is called. */
function startEmbedder() {
  const held = Promise.withResolvers<void>()
  const reached = Promise.withResolvers<void>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { input } = (await request.json()) as { input: string[] }
      if (input.some((text) => text.includes('第3章'))) {
        reached.resolve()
        await held.promise
      }
      return Response.json({ data: input.map((_, index) => ({ index, embedding: [1, 0] })) })
    },
  })
  return {
    reached: reached.promise,
    release: held.resolve,
    /** Documents of 4 KB, so that a short text has several parts. */
    env: {
      MB_EMBED_BASE_URL: `http://127.0.0.1:${server.port}/v1`,
      MB_EMBED_MODEL: 'one-axis',
      MB_KB_MAX_DOC_KB: '4',
      MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1',
    },
    [Symbol.dispose]: () => void server.stop(true),
  }
}

type Env = ReturnType<typeof startEmbedder>['env']

const PARTS = 4
const TEXT = Array.from({ length: PARTS }, (_, i) =>
  `# 第${i + 1}章\n\n编号 ZX-${1000 + i}。`.concat(`第${i + 1}章的内容。`.repeat(110)),
).join('\n\n')
/** Takes a moment to read, and has little text. */
const LARGE_PAGE = `<!doctype html><p>请假须提前三天。</p>${'<!-- x --><b></b>'.repeat(400_000)}`

type Headers = Readonly<Record<string, string>>

function client({ url }: Server, headers: Headers) {
  const json = async (path: string, init: RequestInit = {}) =>
    (await fetch(`${url}/v1/kb${path}`, { ...init, headers })).json() as Promise<never>
  const post = (path: string, body: object) =>
    json(path, { method: 'POST', body: JSON.stringify(body) })
  return {
    post,
    async upload(name: string, text: string): Promise<Source> {
      const body = new FormData()
      body.set('file', new File([text], name))
      return json('/files', { method: 'POST', body })
    },
    get: (id: string): Promise<Source> => json(`/sources/${id}`),
    docs: async () => ((await json('/docs')) as { docs: { id: string; title: string }[] }).docs,
    found: async (q: string) =>
      ((await post('/search', { q })) as { results: { text: string }[] }).results,
  }
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await Bun.sleep(5)
}

function count(folder: TempFolder, where: string): number {
  const db = openBoxFile(folder.file('moonbase.db'), { readonly: true })
  try {
    const row = db.query<{ n: number }, []>(`SELECT count(*) AS n FROM kb_doc WHERE ${where}`).get()
    return row?.n ?? 0
  } finally {
    db.close()
  }
}

/** Starts the server again and waits for the end of all work. */
async function restarted(folder: TempFolder, env: Env, headers: Headers, id: string) {
  const server = await startServer({ dataDir: folder.path, env })
  const kb = client(server, headers)
  await until(async () => !['queued', 'reading', 'embedding'].includes((await kb.get(id)).state))
  await until(() => count(folder, "stage <> 'live'") === 0)
  return { server, kb, source: await kb.get(id) }
}

const spooled = (folder: TempFolder) => readdirSync(folder.file('spool'))

test.each(['queued', 'reading', 'embedding'] as const)(
  'kill -9 of a server while a file is %s: the next one makes the same documents of it',
  async (stage) => {
    using folder = tempFolder()
    using embedder = startEmbedder()
    const { headers } = await createKey(folder.path)
    const first = await startServer({ dataDir: folder.path, env: embedder.env })
    const kb = client(first, headers)
    const isPage = stage === 'reading'
    const { id } = await kb.upload(isPage ? '页.html' : '手册.md', isPage ? LARGE_PAGE : TEXT)
    if (stage === 'reading') await until(async () => (await kb.get(id)).state === 'reading')
    if (stage === 'embedding') {
      await embedder.reached
      expect(count(folder, "stage = 'new'")).toBe(2)
      expect(await kb.found('ZX')).toEqual([])
    }
    await first.kill()
    embedder.release()
    expect(spooled(folder)).toEqual([id])
    expect(count(folder, "stage = 'live'")).toBe(0)

    const { server, kb: again, source } = await restarted(folder, embedder.env, headers, id)
    await using _ = server
    const parts = isPage ? 1 : PARTS
    expect(source).toMatchObject({ state: 'ready', parts, error: null })
    expect((await again.docs()).map((doc) => doc.id)).toEqual([...source.doc_ids])
    const found = await again.found(isPage ? '请假' : 'ZX-1003')
    expect(found.some(({ text }) => /三天|ZX-1003/.test(text))).toBe(true)
    expect(spooled(folder)).toEqual([])
  },
  60_000,
)

test('a server that is stopped in the middle of a file goes on with it later', async () => {
  using folder = tempFolder()
  using embedder = startEmbedder()
  const { headers } = await createKey(folder.path)
  const first = await startServer({ dataDir: folder.path, env: embedder.env })
  const { id } = await client(first, headers).upload('手册.md', TEXT)
  await embedder.reached
  expect(await first.stop()).toBe(0)
  embedder.release()
  const { server, source } = await restarted(folder, embedder.env, headers, id)
  await using _ = server
  expect(source).toMatchObject({ state: 'ready', parts: PARTS })
})

test('an upload that is no longer there after a crash has failed visibly', async () => {
  using folder = tempFolder()
  using embedder = startEmbedder()
  const { headers } = await createKey(folder.path)
  const first = await startServer({ dataDir: folder.path, env: embedder.env })
  const { id } = await client(first, headers).upload('手册.md', TEXT)
  await first.kill()
  embedder.release()
  rmSync(folder.file('spool', id))
  const { server, source } = await restarted(folder, embedder.env, headers, id)
  await using _ = server
  expect(source).toMatchObject({ state: 'failed', error_class: 'interrupted', doc_ids: [] })
})

test('kill -9 while a changed page is embedded keeps its old text until then', async () => {
  using folder = tempFolder()
  using embedder = startEmbedder()
  using page = startPageServer()
  const { headers } = await createKey(folder.path)
  const first = await startServer({ dataDir: folder.path, env: embedder.env })
  const kb = client(first, headers)
  page.serve(() => new Response('旧的编号 AB-1。', { headers: { 'content-type': 'text/plain' } }))
  const { id } = (await kb.post('/urls', { url: page.url })) as Source
  await until(async () => (await kb.get(id)).state === 'ready')
  page.serve(() => new Response(TEXT, { headers: { 'content-type': 'text/plain' } }))
  await kb.post(`/sources/${id}/refresh`, {})
  await embedder.reached
  expect((await kb.found('AB-1')).map(({ text }) => text)).toEqual(['旧的编号 AB-1。'])
  await first.kill()
  embedder.release()
  expect(count(folder, "stage = 'live'")).toBe(1)

  const { server, kb: again } = await restarted(folder, embedder.env, headers, id)
  await using _ = server
  await until(async () => (await again.get(id)).parts === PARTS)
  expect(await again.docs()).toHaveLength(PARTS)
  for (const { text } of await again.found('AB-1')) expect(text).not.toContain('AB-1')
})
