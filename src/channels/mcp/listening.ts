import { answerIn, type ExchangeOptions, isEventStream } from './exchange.ts'

/** How long a call waits for the stream before it is sent without. */
const OPEN_MS_MAX = 1_000

/**
 * Hears what a server of a revision with sessions sends on a stream of its own, beside its answers:
 * many send their questions to the person there. Resolves once the server can, or has no such
 * stream. `onRequest` is called until the signal aborts; what it throws goes to `failed`.
 */
export async function listen(
  work: ExchangeOptions,
  headers: Readonly<Record<string, string>>,
  failed: (error: unknown) => void,
): Promise<void> {
  const { clock, signal } = work
  const opening = open(work, headers).catch(() => null)
  const late = new AbortController()
  const limit = clock.sleep(OPEN_MS_MAX, AbortSignal.any([signal, late.signal])).catch(() => {})
  await Promise.race([opening, limit])
  late.abort()
  void opening.then((response) => response && hear(work, response, failed))
}

/** The stream; null where the server has none. */
async function open(
  { fetch, endpoint, signal }: ExchangeOptions,
  headers: Readonly<Record<string, string>>,
): Promise<Response | null> {
  const all = { ...endpoint.headers, ...headers, accept: 'text/event-stream' }
  const response = await fetch(endpoint.url, { headers: all, signal })
  if (response.ok && isEventStream(response)) return response
  await response.body?.cancel()
  return null
}

async function hear(
  { endpoint, budget, parse, onRequest }: ExchangeOptions,
  response: Response,
  failed: (error: unknown) => void,
): Promise<void> {
  const refused: unknown[] = []
  const reply: ExchangeOptions['onRequest'] = async (message) => {
    try {
      await onRequest?.(message)
    } catch (error) {
      refused.push(error)
      throw error
    }
  }
  try {
    const parseText = (text: string) => parse(endpoint.tenantId, text)
    await answerIn(response, undefined, { budget, parse: parseText, onRequest: reply })
  } catch {
    // A stream that breaks ends no call: its answer comes on another one.
    if (refused.length > 0) failed(refused[0])
  }
}
