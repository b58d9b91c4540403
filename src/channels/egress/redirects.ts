import type { GuardedFetch } from './guarded-fetch.ts'

export type RedirectProblem = 'nowhere' | 'too_long' | 'too_often'

/** The chain of redirects does not end at a page. */
export class RedirectFailure extends Error {
  override readonly name = 'RedirectFailure'

  constructor(readonly problem: RedirectProblem) {
    super(`the address redirects ${problem}`)
  }
}

export interface RedirectOptions {
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  readonly redirectsMax: number
  readonly urlCharsMax: number
  /** Waited for before each request. */
  readonly before?: (url: URL) => Promise<void>
}

/**
 * Follows redirects from `start`; the guard of `fetch` checks each address before a connection is
 * made. Resolves with the first answer that is none, whatever its status. Throws `RedirectFailure`,
 * or as `fetch` does.
 */
export async function follow(fetch: GuardedFetch, start: URL, options: RedirectOptions) {
  const { headers, signal, redirectsMax, urlCharsMax, before } = options
  let url = start
  for (let hop = 0; hop <= redirectsMax; hop++) {
    await before?.(url)
    const response = await fetch(url, { signal, headers })
    if (![301, 302, 303, 307, 308].includes(response.status)) return { response, url }
    await response.body?.cancel()
    const location = response.headers.get('location')
    const next = location === null ? null : URL.parse(location, url)
    if (next === null) throw new RedirectFailure('nowhere')
    if (next.href.length > urlCharsMax) throw new RedirectFailure('too_long')
    url = next
  }
  throw new RedirectFailure('too_often')
}
