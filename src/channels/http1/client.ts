import { orAborted } from '../../core/abort.ts'
import { leastRecentlyUsed } from '../../core/lru.ts'
import type { Answer, Fetch } from '../net/endpoint.ts'
import { Connection } from './connection.ts'
import { decoded } from './decoded.ts'
import type { Exchange } from './exchange.ts'
import { requestText, type Target, targetOf } from './request.ts'

/** Connections to one upstream that are kept for the next requests. */
const FREE_MAX = 256
const TARGETS_MAX = 100

/**
 * A `fetch` for streamed answers of the operator's own upstreams. The platform's runs in a thread
 * of its own and keeps a large buffer and several streams for each answer; here an answer is read
 * from its socket, at about half the memory of an open stream. Redirects are never followed. What
 * it does not know, such as a body that is a stream, goes to `fetch`.
 */
export function createHttpClient({ fetch }: { readonly fetch: Fetch }): Fetch {
  const free = new Map<string, Connection[]>()
  /** By address; an operator's upstreams have a handful. */
  const targets = leastRecentlyUsed<Target>(TARGETS_MAX, () => 1)

  function targetAt(url: string): Target | null {
    const known = targets.get(url)
    if (known) return known
    const target = targetOf(url)
    if (target) targets.put(url, target)
    return target
  }

  const keep = (origin: string) => (connection: Connection) => {
    const kept = free.get(origin) ?? []
    free.set(origin, kept)
    if (kept.length < FREE_MAX) kept.push(connection)
    else connection.destroy()
  }

  /** The one that was used last: it is the least likely to have been given up. */
  function takeFree(origin: string): Connection | null {
    const kept = free.get(origin) ?? []
    for (let last = kept.pop(); last; last = kept.pop()) if (last.isOpen) return last
    return null
  }

  async function dial({ origin, destination }: Target, signal: AbortSignal | null) {
    const dialling = Connection.open(destination, keep(origin))
    if (!signal) return dialling
    try {
      return await orAborted(dialling, signal)
    } catch (error) {
      void dialling.then((late) => late.destroy()).catch(() => {})
      throw error
    }
  }

  async function ask(target: Target, request: string, signal: AbortSignal | null) {
    const kept = takeFree(target.origin)
    if (kept) {
      const exchange = kept.send(request, signal)
      try {
        return await answerOf(exchange)
      } catch (error) {
        // It was closed while the request was on its way, so nobody has read it.
        if (exchange.begun || signal?.aborted) throw error
      }
    }
    const connection = await dial(target, signal)
    return answerOf(connection.send(request, signal))
  }

  return async (url, init) => {
    const target = targetAt(url)
    const request = target && requestText(target, init)
    if (!target || !request) return fetch(url, init)
    init.signal?.throwIfAborted()
    return ask(target, request, init.signal ?? null)
  }
}

async function answerOf(exchange: Exchange): Promise<Answer> {
  const { status, headers } = await exchange.answered()
  return {
    status,
    ok: status >= 200 && status < 300,
    headers,
    body: decoded({ getReader: () => exchange, cancel: () => exchange.cancel() }, headers),
  }
}
