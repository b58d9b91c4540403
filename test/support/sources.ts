import type { Source } from '../../src/features/knowledge/sources/model.ts'
import type { Embedder } from '../../src/upstream/ports/embedder.ts'
import { ChannelFailure } from '../../src/upstream/ports/failure.ts'
import type { TestApp, TestKey } from './app.ts'

export interface UploadOptions {
  readonly title?: string
  readonly name?: string
  readonly type?: string
}

/** Calls the sources of a server on `/v1`. */
export function sourcesClient(app: () => TestApp) {
  async function send(key: TestKey, method: string, path: string, init: RequestInit = {}) {
    const headers = { ...key.headers, ...(init.headers as Record<string, string>) }
    const response = await fetch(`${app().url}/v1/kb${path}`, { ...init, method, headers })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    const body = isJson ? JSON.parse(text) : null
    return { status: response.status, headers: response.headers, text, body }
  }

  function call(key: TestKey, method: string, path: string, body?: unknown) {
    if (body === undefined) return send(key, method, path)
    const headers = { 'content-type': 'application/json' }
    return send(key, method, path, { headers, body: JSON.stringify(body) })
  }

  function upload(key: TestKey, content: string | Uint8Array, options: UploadOptions = {}) {
    const { title, name = '手册.txt', type = '' } = options
    const form = new FormData()
    if (title !== undefined) form.set('title', title)
    form.set('file', new File([content as BlobPart], name, { type }))
    return send(key, 'POST', '/files', { body: form })
  }

  /** Resolves when all sources are ready, have failed or wait for an upstream. */
  const idle = () => app().jobs.idle()

  return {
    send,
    call,
    upload,
    idle,
    get: async (key: TestKey, id: string): Promise<Source> =>
      (await call(key, 'GET', `/sources/${id}`)).body,
    /** Uploads a file and returns its source once the work on it has ended. */
    async ingest(key: TestKey, content: string | Uint8Array, options?: UploadOptions) {
      const { status, text, body } = await upload(key, content, options)
      if (status !== 202) throw new Error(`${status} ${text}`)
      await idle()
      return (await call(key, 'GET', `/sources/${body.id}`)).body as Source
    },
    docs: async (key: TestKey) => (await call(key, 'GET', '/docs')).body.docs,
    search: async (key: TestKey, q: string) =>
      (await call(key, 'POST', '/search', { q })).body.results,
  }
}

/**
 * An embedder of one vector for all texts. It fails for texts with 【坏】, and waits at texts with
 * the mark of `hold` until the returned function is called.
 */
export function oneAxisEmbedder() {
  let held = { mark: '', until: Promise.resolve(), reached: () => {} }
  let reached = Promise.resolve()
  let calls = 0
  const embedder: Embedder = {
    id: 'one axis',
    async embed(texts, _kind, signal) {
      calls++
      if (texts.some((text) => text.includes('【坏】'))) {
        throw new ChannelFailure('channel_unavailable', 'connection failed')
      }
      if (held.mark !== '' && texts.some((text) => text.includes(held.mark))) {
        held.reached()
        await held.until
      }
      signal?.throwIfAborted()
      return texts.map(() => Float32Array.of(1, 0))
    },
    close: async () => {},
  }
  return {
    embedder,
    hold(mark: string): () => void {
      const { promise, resolve } = Promise.withResolvers<void>()
      const waits = Promise.withResolvers<void>()
      reached = waits.promise
      held = { mark, until: promise, reached: waits.resolve }
      return resolve
    },
    /** Resolves when a text with the mark has come. */
    reached: () => reached,
    calls: () => calls,
  }
}

/** Sections of a little over 1 KB, so that a document of 2 KB has room for one. */
export const sections = (count: number, name = '章') =>
  Array.from({ length: count }, (_, i) => `# ${name}${i + 1}\n\n${`规定${i + 1}。`.repeat(120)}`)
export const longText = (count: number, name?: string) => sections(count, name).join('\n\n')
