import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { createKey } from '../support/key.ts'
import { startServer } from '../support/server.ts'
import { tempFolder } from '../support/temp.ts'

interface Doc {
  readonly id: string
  readonly title: string
  readonly chunk_count: number
}

const UPLOADS = 12
const textOf = (i: number) =>
  `文件编号 ZX-${1000 + i} 的说明。`.concat(`第${i}份文件的内容各不相同。`.repeat(200))

const isEmbedWorker = (pid: string): boolean => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('embed-worker')
  } catch {
    return false
  }
}

/** The embedding processes of a server; those of other tests are not looked at. */
const embedWorkersOf = (pid: number): string[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(isEmbedWorker)

/** Children of a process that is gone live on under another parent. */
async function gone(pids: readonly string[]): Promise<void> {
  while (pids.some(isEmbedWorker)) await Bun.sleep(10)
}

test('kill -9 in the middle of uploads: every 201 is found, nothing is half there', async () => {
  using folder = tempFolder()
  const { headers } = await createKey(folder.path)
  const first = await startServer({ dataDir: folder.path })
  const stored: Doc[] = []
  const half = Promise.withResolvers<void>()
  const uploads = Array.from({ length: UPLOADS }, async (_, i) => {
    const body = JSON.stringify({ title: `文件${i}`, text: textOf(i) })
    const init = { method: 'POST', headers, body }
    // Some are cut off by the kill, before or after they were stored.
    const response = await fetch(`${first.url}/v1/kb/docs`, init).catch(() => null)
    if (response?.status !== 201) return
    const doc = await response.json().catch(() => null)
    if (doc) stored.push(doc as Doc)
    if (stored.length === 4) half.resolve()
  })
  await half.promise
  const workers = embedWorkersOf(first.pid)
  expect(workers.length).toBeGreaterThan(0)
  await first.kill()
  await Promise.all(uploads)
  // The embedding process ends with its server, also when that had no time to say so.
  await gone(workers)

  await using second = await startServer({ dataDir: folder.path })
  const call = async (path: string, body?: object) => {
    const init = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers }
    return (await fetch(`${second.url}/v1/kb${path}`, init)).json() as Promise<never>
  }
  const { docs }: { docs: Doc[] } = await call('/docs')
  const ids = docs.map(({ id }) => id)
  for (const { id } of stored) expect(ids).toContain(id)
  for (const { id, title, chunk_count } of docs) {
    const { chunks }: { chunks: unknown[] } = await call(`/docs/${id}/chunks`)
    expect(chunks).toHaveLength(chunk_count)
    const number = 1000 + Number(title.slice(2))
    const { results }: { results: { doc_id: string; score: number }[] } = await call('/search', {
      q: `ZX-${number}`,
    })
    expect(results.map(({ doc_id }) => doc_id)).toContain(id)
    for (const { doc_id, score } of results) {
      expect(ids).toContain(doc_id)
      expect(score).toBeGreaterThan(0)
    }
  }
})
