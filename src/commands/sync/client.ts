import { firstChars } from '../../core/text.ts'
import { OperatorError } from '../../data-folder/operator-error.ts'

/** A source as the server answers it; other fields are not read. */
export interface RemoteSource {
  readonly id: string
  readonly state: string
  readonly error: string | null
  readonly error_class: string | null
  readonly origin: string | null
  readonly sha256: string | null
}

interface Named {
  readonly id: string
  readonly name: string
}

/** How often a request that is to come later, or finds no server, is sent. */
const TRIES_MAX = 8

export interface ClientOptions {
  readonly server: string
  readonly key: string
  readonly sleep: (ms: number) => Promise<void>
}

/** The knowledge base of a server, as its HTTP API offers it. */
export function createClient({ server, key, sleep }: ClientOptions) {
  const headers = { authorization: `Bearer ${key}`, 'accept-language': 'en' }

  async function once(method: string, path: string, body?: FormData): Promise<Response> {
    try {
      const init = { method, headers, redirect: 'error' as const, ...(body ? { body } : {}) }
      return await fetch(`${server}/v1${path}`, init)
    } catch {
      throw new OperatorError(`there is no server at ${server}`)
    }
  }

  /** Sends again what is refused as too much at a time, after the wait that the server names. */
  async function ask<Answer>(method: string, path: string, body?: () => FormData): Promise<Answer> {
    for (let tries = 1; ; tries += 1) {
      const answer = await once(method, path, body?.())
      if (answer.ok) return (await answer.json()) as Answer
      const later = Number(answer.headers.get('retry-after') ?? Number.NaN)
      const said = reasonOf(answer, await answer.text())
      if (answer.status === 401) throw new OperatorError(`the key is refused: ${said}`)
      if (answer.status !== 429 || !(later >= 0) || tries === TRIES_MAX) throw new Error(said)
      await sleep(Math.min(later, 60) * 1_000)
    }
  }

  const query = (fields: Readonly<Record<string, string | null>>) => {
    const given = Object.entries(fields).flatMap(([name, value]) =>
      value === null ? [] : [[name, value] as [string, string]],
    )
    return new URLSearchParams(given)
  }

  return {
    async collections(): Promise<Named[]> {
      type Page = { collections: Named[]; next_before: string | null }
      const all: Named[] = []
      for (let before: string | null = null; ; ) {
        const path = `/kb/collections?${query({ limit: '200', before })}`
        const page: Page = await ask<Page>('GET', path)
        all.push(...page.collections)
        before = page.next_before
        if (before === null) return all
      }
    },

    async fileBytesMax(): Promise<number> {
      const { file_mb_max } = await ask<{ file_mb_max: number }>('GET', '/kb/limits')
      return file_mb_max * 1024 * 1024
    },

    async sources(collection: string | null, prefix: string): Promise<RemoteSource[]> {
      const wanted = query({ collection_id: collection, origin_prefix: prefix })
      const { sources } = await ask<{ sources: RemoteSource[] }>('GET', `/kb/sources?${wanted}`)
      // A server that does not know the filter answers with all.
      return sources.filter(({ origin }) => typeof origin === 'string' && origin.startsWith(prefix))
    },

    source: (id: string) => ask<RemoteSource>('GET', `/kb/sources/${encodeURIComponent(id)}`),

    upload: (file: File, fields: Readonly<Record<string, string>>) =>
      ask<RemoteSource>('POST', '/kb/files', () => {
        const form = new FormData()
        for (const [name, value] of Object.entries(fields)) form.set(name, value)
        form.set('file', file)
        return form
      }),

    /** Deletes a source; one that another has deleted meanwhile is gone, too. */
    async remove(id: string): Promise<void> {
      try {
        await ask<object>('DELETE', `/kb/sources/${encodeURIComponent(id)}`)
      } catch (error) {
        if (!isMissing(error)) throw error
      }
    },
  }
}

/** Whether the server has answered that there is no such thing. */
export const isMissing = (error: unknown): boolean =>
  error instanceof Error && /^HTTP 404\b/.test(error.message)

export type Client = ReturnType<typeof createClient>

const REASON_CHARS_MAX = 300

/** What a refusal says: its status, its code and its sentence. */
function reasonOf({ status, headers }: Response, text: string): string {
  const code = headers.get('x-error-code')
  // A proxy answers with a page.
  const sentence = headers.get('content-type')?.startsWith('text/plain')
    ? firstChars(text.trim(), REASON_CHARS_MAX)
    : ''
  return [`HTTP ${status}`, code ?? '', sentence].filter((part) => part !== '').join(' ')
}
