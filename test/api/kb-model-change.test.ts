import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { everything } from '../../src/features/knowledge/collections/access.ts'
import type { Embedder } from '../../src/upstream/ports/embedder.ts'
import { ChannelFailure } from '../../src/upstream/ports/failure.ts'
import { ON_POSTGRES, startApp, type TestApp } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'
import { hasModelFixtures, MODEL_FIXTURES, sayWhenAbsent } from '../support/models.ts'
import { type TempFolder, tempFolder } from '../support/temp.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { hashVector } from '../support/upstream-embeddings.ts'

sayWhenAbsent()

let upstream: Upstream
let folder: TempFolder
beforeAll(async () => {
  upstream = await startUpstream()
})
afterAll(() => upstream.stop())
beforeEach(() => {
  folder = tempFolder()
})
afterEach(() => {
  upstream.reset()
  folder[Symbol.dispose]()
})

const remote = (model: string) => ({ MB_EMBED_BASE_URL: upstream.baseUrl, MB_EMBED_MODEL: model })
const openApp = (env: Record<string, string>) => startApp({ dataDir: folder.path, env })

async function post(app: TestApp, path: string, body: object) {
  const { headers } = await app.key()
  const init = { method: 'POST', headers, body: JSON.stringify(body) }
  const response = await fetch(`${app.url}/v1/kb${path}`, init)
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

async function search(app: TestApp, q: string) {
  const { body } = await post(app, '/search', { q })
  return body.results as { title: string; score: number }[]
}

async function fill(app: TestApp) {
  await post(app, '/docs', { title: '保修', text: '保修期为两年，凭发票办理。' })
  await post(app, '/docs', { title: '请假', text: '请年假须提前三天申请。' })
  await post(app, '/docs', { title: '零件', text: '零件 AB-1234 在七号货架。' })
}

/** The models that the documents' vectors are of, each once. */
async function modelsOf(app: TestApp) {
  const query = 'SELECT DISTINCT embed_model AS model FROM kb_doc'
  const rows = await app.db.all<{ model: string }>({ sql: query, args: [] })
  return rows.map(({ model }) => model)
}

/** An earlier life of the server, with the model m1. */
async function filledBefore(then?: (app: TestApp) => Promise<void>) {
  await using app = await openApp(remote('m1'))
  await fill(app)
  await then?.(app)
  expect(await modelsOf(app)).toEqual([expect.stringMatching(/:m1$/)])
}

const SHIPPED = {}

describe('after the embedding model was changed', () => {
  test('documents are embedded again once after a change of the model', async () => {
    await filledBefore()

    await using app = await openApp(SHIPPED)
    await app.jobs.idle()
    expect(await modelsOf(app)).toEqual([expect.not.stringMatching(/:m1$/)])
    const [best] = await search(app, '年假要提前几天申请？')
    expect(best?.title).toBe('请假')
    expect(best?.score).toBeGreaterThan(0.45)
    expect(await search(app, '年假')).toHaveLength(3)
  })

  test('words of documents are indexed again after a change of the model', async () => {
    await filledBefore(async (app) => {
      await app.db.run({ sql: 'DELETE FROM kb_word', args: [] })
    })
    const blind: Embedder = {
      id: 'blind',
      embed: async (texts) => texts.map(() => new Float32Array(2)),
      close: async () => {},
    }

    await using app = await startApp({ dataDir: folder.path, embedder: blind })
    await app.jobs.idle()
    expect((await search(app, 'AB-1234')).map(({ title }) => title)).toEqual(['零件'])
    expect(await search(app, 'CD-5678')).toEqual([])
  })

  test('search answers before documents have vectors of the new model', async () => {
    await filledBefore()

    upstream.embeddings.alwaysFault(403)
    await using app = await openApp(remote('m2'))
    await app.jobs.idle()
    upstream.embeddings.reset()
    expect(await modelsOf(app)).toEqual([expect.stringMatching(/:m1$/)])
    const [best] = await search(app, 'AB-1234')
    expect(best?.title).toBe('零件')
    const vectors = ['AB-1234', '零件\n零件 AB-1234 在七号货架。'].map((t) => hashVector(t, 64))
    const [query, passage] = vectors as [Float32Array, Float32Array]
    const cosine = query.reduce((sum, x, i) => sum + x * (passage[i] ?? 0), 0)
    expect(best?.score).toBeCloseTo(cosine, 4)
  })

  test('a document that could not be embedded again waits, and is tried later', async () => {
    await filledBefore()

    const clock = fakeClock()
    upstream.embeddings.alwaysFault(403)
    await using app = await startApp({ dataDir: folder.path, env: remote('m2'), clock })
    await app.jobs.idle()
    expect(await modelsOf(app)).toEqual([expect.stringMatching(/:m1$/)])
    upstream.embeddings.reset()
    const run = () => app.kb.reembed.run(new AbortController().signal)
    await run()
    expect(await modelsOf(app)).toEqual([expect.stringMatching(/:m1$/)])
    clock.advance(3_600_000)
    await run()
    expect(await modelsOf(app)).toEqual([expect.stringMatching(/:m2$/)])
  })

  test('a document deleted while it is embedded again leaves nothing behind', async () => {
    await filledBefore()

    const asked = Promise.withResolvers<void>()
    const go = Promise.withResolvers<void>()
    const slow: Embedder = {
      id: 'slow',
      async embed(texts, kind) {
        if (kind === 'passage') {
          asked.resolve()
          await go.promise
        }
        return texts.map((text) => hashVector(text, 64))
      },
      close: async () => {},
    }
    await using app = await startApp({ dataDir: folder.path, embedder: slow })
    const { tenantId } = await app.key()
    await asked.promise
    const docs = await app.db.all<{ id: string }>({ sql: 'SELECT id FROM kb_doc', args: [] })
    for (const { id } of docs) await app.kb.service.remove(everything(tenantId), id)
    go.resolve()
    await app.jobs.idle()
    expect(await app.kb.service.search(everything(tenantId), '保修')).toEqual({ results: [] })
    const rows = await app.db.all({ sql: 'SELECT key FROM kb_vector', args: [] })
    expect(rows).toEqual([])
  })

  test('documents are embedded again when another is listed', async () => {
    const unnamed = { MB_EMBED_BASE_URL: upstream.baseUrl }
    const port = new URL(upstream.baseUrl).port
    const questions = () =>
      upstream.requests.filter(({ path }) => path === '/embeddings').map(({ body }) => body.model)
    {
      upstream.models.always({ ids: ['chat', 'embed-one'] })
      await using app = await openApp(unnamed)
      await fill(app)
      expect(await modelsOf(app)).toEqual([`127.0.0.1:${port}:embed-one`])
      expect(new Set(questions())).toEqual(new Set(['embed-one']))
    }
    upstream.models.always({ ids: ['embed-two', 'embed-one'] })
    upstream.embeddings.always({ dimensions: 32 })
    await using app = await openApp(unnamed)
    await app.jobs.idle()
    expect(await modelsOf(app)).toEqual([`127.0.0.1:${port}:embed-two`])
    expect(questions().at(-1)).toBe('embed-two')
    expect((await search(app, '年假要提前几天申请？')).length).toBe(3)
    const spaces = 'SELECT DISTINCT length(vector) AS bytes FROM kb_vector'
    if (!ON_POSTGRES) expect(await app.db.all({ sql: spaces, args: [] })).toEqual([{ bytes: 128 }])
  })

  test('documents are embedded again when another is listed meanwhile', async () => {
    const clock = fakeClock()
    upstream.models.always({ ids: ['first.gguf'] })
    const env = { MB_EMBED_BASE_URL: upstream.baseUrl }
    await using app = await startApp({ dataDir: folder.path, env, clock })
    await fill(app)
    expect(await modelsOf(app)).toEqual([expect.stringMatching(/:first\.gguf$/)])
    upstream.models.always({ ids: ['second.gguf'] })
    const run = () => app.kb.reembed.run(new AbortController().signal)
    await run()
    expect(await modelsOf(app)).toEqual([expect.stringMatching(/:first\.gguf$/)])
    clock.advance(600_000)
    await run()
    expect(await modelsOf(app)).toEqual([expect.stringMatching(/:second\.gguf$/)])
  })

  test('the same model at another port is another one', async () => {
    const other = await startUpstream()
    try {
      await filledBefore()
      await using app = await openApp({ ...remote('m1'), MB_EMBED_BASE_URL: other.baseUrl })
      await app.jobs.idle()
      const { port } = new URL(other.baseUrl)
      expect(await modelsOf(app)).toEqual([`127.0.0.1:${port}:m1`])
    } finally {
      await other.stop()
    }
  })

  test('documents keep their vectors while no model is listed', async () => {
    const unnamed = { MB_EMBED_BASE_URL: upstream.baseUrl }
    {
      await using app = await openApp(unnamed)
      await fill(app)
    }
    upstream.models.alwaysFault(403)
    await using app = await openApp(unnamed)
    await app.jobs.idle()
    expect(await modelsOf(app)).toEqual([expect.stringMatching(/:fake-embed$/)])
    const { headers } = await app.key()
    const progress = await fetch(`${app.url}/v1/kb/embedding`, { headers })
    expect(await progress.json()).toMatchObject({ waiting: 0 })
    expect(app.log()).not.toContain('"job failed"')
  })

  test.skipIf(!hasModelFixtures)(
    'documents get new vectors when the model folder changes and changes back',
    async () => {
      const models: string[] = []
      for (const name of ['bert-zh-tiny', 'm2v-tiny', 'bert-en-tiny', 'bert-zh-tiny']) {
        await using app = await openApp({ MB_EMBED_MODEL_DIR: join(MODEL_FIXTURES, name) })
        if (models.length === 0) await fill(app)
        await app.jobs.idle()
        models.push(...(await modelsOf(app)))
        const found = await search(app, 'AB-1234')
        expect(found).toHaveLength(3)
        expect(found.map(({ title }) => title)).toContain('零件')
      }
      expect(models).toHaveLength(4)
      expect(models.at(-1)).toBe(models[0] as string)
      expect(new Set(models).size).toBe(3)
    },
  )
})
test('a folder that is no model stops the start with the name of the setting', async () => {
  await expect(startApp({ env: { MB_EMBED_MODEL_DIR: folder.path } })).rejects.toThrow(
    /^MB_EMBED_MODEL_DIR is no embedding model/,
  )
})

test('a turn is answered although the embedder is down', async () => {
  const broken: Embedder = {
    id: 'broken',
    embed: async () => {
      throw new ChannelFailure('channel_unavailable', 'down')
    },
    close: async () => {},
  }
  await filledBefore()
  await using app = await startApp({ dataDir: folder.path, embedder: broken })
  const { headers } = await app.key()
  const response = await fetch(`${app.url}/v1/agent`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ text: '保修期多久？' }),
  })
  expect(await response.text()).toContain('event: llm_end')
})
