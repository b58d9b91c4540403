import { expect, test } from 'bun:test'
import type { Source } from '../../src/features/knowledge/sources/model.ts'
import { openBoxFile } from '../support/box-file.ts'
import { createKey } from '../support/key.ts'
import { scansOf } from '../support/scans.ts'
import { startServer } from '../support/server.ts'
import { tempFolder } from '../support/temp.ts'
import { startUpstream } from '../support/upstream.ts'

test('kill -9 in the middle of a scan: the next server asks for the other pages', async () => {
  using folder = tempFolder()
  const upstream = await startUpstream()
  const env = { MB_LLM_BASE_URL: upstream.baseUrl, MB_LLM_MODEL: 'seer' }
  const { headers } = await createKey(folder.path)
  const at = (url: string, path: string, init: RequestInit = {}) =>
    fetch(`${url}/v1/kb${path}`, { ...init, headers }).then((answer) => answer.json())
  const get = (url: string, id: string) => at(url, `/sources/${id}`) as Promise<Source>

  const first = await startServer({ dataDir: folder.path, env })
  const db = openBoxFile(folder.file('moonbase.db'))
  db.run("INSERT INTO tenant_settings (tenant_id, ocr) SELECT id, 'scans' FROM tenant")
  db.close()
  const never = Promise.withResolvers<void>()
  upstream.reply({ text: 'The first page.' })
  upstream.reply({ text: 'The second page.' })
  upstream.chat.always({ text: '…', holdHeaders: never.promise })
  const body = new FormData()
  body.set('file', new File([scansOf(5) as BlobPart], 'a.pdf'))
  const { id } = (await at(first.url, '/files', { method: 'POST', body })) as Source
  let seen = await get(first.url, id)
  while ((seen.pages_done ?? 0) < 2 || upstream.active() < 2) {
    await Bun.sleep(10)
    seen = await get(first.url, id)
  }
  expect(seen).toMatchObject({ state: 'reading', pages: 5, pages_done: 2, ocr_pages: 2 })
  await first.kill()
  const sent = upstream.requests.length
  expect(sent).toBe(4)

  upstream.chat.always({ text: 'Another page.' })
  await using second = await startServer({ dataDir: folder.path, env })
  let source = await get(second.url, id)
  while (source.state !== 'ready' && source.state !== 'failed') {
    await Bun.sleep(10)
    source = await get(second.url, id)
  }
  expect(source).toMatchObject({ state: 'ready', pages: 5, ocr_pages: 5 })
  expect(upstream.requests).toHaveLength(sent + 3)
  never.resolve()
  await upstream.stop()
}, 180_000)
