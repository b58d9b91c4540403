import { createTtlMap } from '../../../core/bounded-maps.ts'
import type { Clock } from '../../../core/clock.ts'
import { DiskFault } from '../../../core/errors.ts'
import {
  SOURCE_HOST_MS_MIN,
  SOURCE_PAGE_BYTES_MAX,
  SOURCE_PAGE_MS_MAX,
  SOURCE_REDIRECTS_MAX,
} from '../../../core/limits/contract.ts'
import { SOURCE_URL_CHARS_MAX } from '../../../core/limits/machine.ts'
import {
  type FetchFor,
  follow,
  RedirectFailure,
  unpackedBody,
} from '../../../upstream/egress/guarded-fetch.ts'
import { ChannelFailure } from '../../../upstream/ports/failure.ts'
import { failure, pageTooLarge, redirectFailure, SourceFailure, StatusFailure } from './failure.ts'
import type { Spool } from './reading.ts'
import type { SourceRow } from './row.ts'
import type { Version } from './work-store.ts'

/** A page that was written to the spool. */
export type FetchedPage = Version & { readonly contentType: string; readonly bytes: number }

export interface PagesOptions {
  readonly fetchFor: FetchFor
  readonly spool: Spool
  readonly clock: Clock
  /** The limit of an upload; pages have another limit in addition. */
  readonly fileBytesMax: () => number
}

const TYPES = ['text/html', 'text/plain', 'text/markdown', 'application/pdf']

/** Fetches web pages into the spool. */
export function createPages({ fetchFor, spool, clock, fileBytesMax }: PagesOptions) {
  const pace = createPace(clock)
  const bytesMax = () => Math.min(fileBytesMax(), SOURCE_PAGE_BYTES_MAX)

  async function fetchPage(source: SourceRow, signal: AbortSignal): Promise<FetchedPage | null> {
    const start = URL.parse(source.url ?? '')
    if (!start) throw failure('unreachable')
    const { response } = await follow(fetchFor(source.tenant_id), start, {
      headers: headersFor(source),
      signal,
      redirectsMax: SOURCE_REDIRECTS_MAX,
      urlCharsMax: SOURCE_URL_CHARS_MAX,
      before: (url) => pace.wait(url, signal),
    })
    const contentType = response.headers.get('content-type') ?? ''
    const body = contentOf(response, contentType)
    if (!body) {
      await response.body?.cancel()
      if (response.status === 304 && source.text_hash !== null) return null
      throw response.ok ? failure('unsupported') : new StatusFailure(response.status)
    }
    const bytes = await spool.write(source.id, atMost(body, bytesMax()))
    return {
      contentType,
      bytes,
      etag: response.headers.get('etag'),
      lastModified: response.headers.get('last-modified'),
    }
  }

  return {
    /** Milliseconds until the host of the page may be asked again. */
    waitMs(source: SourceRow): number {
      const url = URL.parse(source.url ?? '')
      return url ? pace.waitMs(url) : 0
    },

    /** Null when the page has not changed (304). Throws `SourceFailure`. */
    async fetch(source: SourceRow, stopped: AbortSignal): Promise<FetchedPage | null> {
      const late = new AbortController()
      const cancel = clock.after(SOURCE_PAGE_MS_MAX, () => late.abort())
      const signal = AbortSignal.any([stopped, late.signal])
      try {
        return await fetchPage(source, signal)
      } catch (error) {
        stopped.throwIfAborted()
        throw explained(error)
      } finally {
        cancel()
        late.abort()
      }
    },
  }
}

export type Pages = ReturnType<typeof createPages>

/** Declines compression, because a small body may unpack to any size. */
const headersFor = ({ text_hash, etag, last_modified }: SourceRow) => ({
  accept: TYPES.join(', '),
  'accept-encoding': 'identity',
  'user-agent': 'Moonbase/1.0 (knowledge base)',
  ...(text_hash !== null && etag !== null ? { 'if-none-match': etag } : {}),
  ...(text_hash !== null && last_modified !== null ? { 'if-modified-since': last_modified } : {}),
})

/** The body of a page; throws for kinds that are not read. */
function contentOf(response: Response, contentType: string) {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? ''
  if (!response.ok || (type !== '' && !TYPES.includes(type))) return null
  return unpackedBody(response)
}

async function* atMost(body: AsyncIterable<Uint8Array>, bytesMax: number) {
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.length
    if (bytes > bytesMax) throw pageTooLarge(bytesMax)
    yield piece
  }
}

function explained(error: unknown): unknown {
  if (error instanceof SourceFailure || error instanceof DiskFault) return error
  if (error instanceof RedirectFailure) return redirectFailure(error)
  // The guard throws only `ChannelFailure`.
  if (error instanceof ChannelFailure) return failure('address_refused', error)
  return failure('unreachable', error)
}

/** Recently asked hosts that are remembered. */
const HOSTS_MAX = 10_000

/** Waits so that this server asks a host and port once in `SOURCE_HOST_MS_MIN` at most. */
function createPace(clock: Clock) {
  /** When a host may be asked again. */
  const hosts = createTtlMap<number>(clock, 60_000, HOSTS_MAX)
  const hostOf = ({ protocol, hostname, port }: URL) => `${hostname}:${port || protocol}`
  const waitMs = (url: URL) => Math.max(0, (hosts.get(hostOf(url)) ?? 0) - clock.steady())
  return {
    waitMs,
    async wait(url: URL, signal: AbortSignal): Promise<void> {
      const wait = waitMs(url)
      hosts.set(hostOf(url), clock.steady() + wait + SOURCE_HOST_MS_MIN)
      if (wait > 0) await clock.sleep(wait, signal)
    },
  }
}
