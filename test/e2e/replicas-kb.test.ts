import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { systemClock } from '../../src/core/clock.ts'
import { NO_LOG } from '../../src/core/log.ts'
import { removeAbandoned } from '../../src/features/knowledge/sources/work.ts'
import { sql } from '../../src/storage/db.ts'
import { openSharedState } from '../../src/storage/postgres/shared-state.ts'
import { leaseName } from '../../src/storage/shared-state.ts'
import type { Embedder } from '../../src/upstream/ports/embedder.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { kbClient } from '../support/kb.ts'
import { hasPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { sharing } from '../support/sharing.ts'
import { sourcesClient } from '../support/sources.ts'

/** An embedder that notes which passages it was given. */
function notingEmbedder(id: string) {
  const passages: string[] = []
  const embedder: Embedder = {
    id,
    async embed(texts, kind) {
      if (kind === 'passage') passages.push(...texts)
      return texts.map(() => Float32Array.of(1, 0))
    },
    close: async () => {},
  }
  return { embedder, passages }
}

/** Both run in this process, each with a data folder of its own. */
describe.skipIf(!hasPostgres())('the knowledge base of two servers', () => {
  let postgres: TestPostgres
  let env: Readonly<Record<string, string>>
  let apps: readonly [TestApp, TestApp]
  let key: TestKey

  const startBoth = (embedder: Embedder) =>
    Promise.all([startApp({ env, embedder }), startApp({ env, embedder })])
  const stopBoth = () => Promise.all(apps.map((app) => app[Symbol.asyncDispose]()))
  const kbOf = (app: TestApp) => kbClient(() => app.url)
  const titles = async (app: TestApp): Promise<string[]> =>
    (await kbOf(app).call(key, 'GET', '/docs')).body.docs.map(({ title }: KbTitle) => title).sort()
  type KbTitle = { readonly title: string }

  beforeAll(async () => {
    postgres = await startPostgres('all')
    env = {
      ...sharing(postgres.url),
    }
    apps = await startBoth(notingEmbedder('m1').embedder)
    key = await apps[0].key()
  })
  afterAll(async () => {
    await stopBoth()
    await postgres[Symbol.asyncDispose]()
  })

  test('documents that come to both at once are all found at both', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `doc ${10 + i}`)
    const added = await Promise.all(
      names.map((title, i) => kbOf(apps[i % 2 ? 0 : 1]).add(key, title, `handbook number${i}`)),
    )
    expect(added.map(({ status }) => status)).toEqual(names.map(() => 201))
    for (const app of apps) {
      expect(await titles(app)).toEqual(names)
      const { results } = (await kbOf(app).search(key, 'number7')).body
      expect(results[0].title).toBe('doc 17')
    }
    const id = added[7]?.body.id
    expect((await kbOf(apps[0]).call(key, 'DELETE', `/docs/${id}`)).status).toBe(200)
    const { results } = (await kbOf(apps[1]).search(key, 'number7')).body
    expect(results.map(({ title }: KbTitle) => title)).not.toContain('doc 17')
  })

  test('a file is read by one of them, whichever took it', async () => {
    const [a, b] = apps.map((app) => sourcesClient(() => app))
    const { body } = (await a?.upload(key, 'Holidays are thirty days.', { name: 'h.txt' })) ?? {}
    await Promise.all([a?.idle(), b?.idle()])
    expect(await b?.get(key, body.id)).toMatchObject({ state: 'ready', parts: 1 })
    expect((await titles(apps[1])).filter((title) => title === 'h')).toHaveLength(1)
  })

  test('abandoned documents are removed, others are not', async () => {
    const [{ db, kb }] = apps
    const shared = await openSharedState({ db, clock: systemClock(), log: NO_LOG, directUrl: null })
    const never = new AbortController().signal
    const part = { title: 'cut off', part: 1, parts: 2, createdAt: '2026-01-01T00:00:00.000Z' }
    const add = (id: string) =>
      kb.parts.add(
        { tenant_id: key.tenantId, id },
        { ...part, text: 'half a file', places: [] },
        never,
      )
    const left = async () => {
      await removeAbandoned({ documents: kb.parts, shared })
      const rows = await db.all<{ source_id: string }>(
        sql`SELECT source_id FROM kb_doc WHERE title = ${part.title} ORDER BY source_id`,
      )
      return rows.map(({ source_id }) => source_id)
    }
    await Promise.all(['one', 'two'].map(add))
    await shared.leases.hold(leaseName.import(key.tenantId), never, async () => {
      expect(await left()).toEqual(['one', 'two'])
      const body = JSON.stringify({ format_version: 1, documents: [] })
      const path = `${apps[1].url}/v1/import?kb=1`
      const refused = await fetch(path, { method: 'POST', headers: key.headers, body })
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10'])
    })
    await shared.leases.hold(leaseName.source('two'), never, async () => {
      expect(await left()).toEqual(['two'])
    })
    expect(await left()).toEqual([])
    await shared.close()
  })

  test('another embedding model embeds each document once', async () => {
    const before = await titles(apps[0])
    await stopBoth()
    const { embedder, passages } = notingEmbedder('m2')
    apps = await startBoth(embedder)
    await Promise.all(apps.map((app) => app.jobs.idle()))
    expect(passages).toHaveLength(before.length)
    expect(new Set(passages).size).toBe(before.length)
  })
})
