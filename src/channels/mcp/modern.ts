import type { Clock } from '../../core/clock.ts'
import { MCP_PROBE_MS_MAX } from '../../core/limits/upstream.ts'
import { type ExchangeOptions, exchange, isRecord, type RpcAnswer } from './exchange.ts'

/** The revision without handshake and sessions: each request is self-contained. */
export const MODERN = '2026-07-28'
const UNSUPPORTED_VERSION = -32022

/** What a client can do whose person answers questions. */
export const ASKING = { elicitation: { form: {}, url: {} } }

/** How the client introduces itself. */
export interface About {
  readonly name: string
  readonly version: string
}

export interface Request {
  readonly method: 'tools/list' | 'tools/call' | 'server/discover'
  readonly params: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>
}

/** Requests of the modern revision. */
export function createModern(about: About, clock: Pick<Clock, 'after'>) {
  const metaOf = (capabilities: object) => ({
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientInfo': about,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  })
  const plain = metaOf({})
  const asking = metaOf(ASKING)

  const ask = (
    work: ExchangeOptions,
    { method, params, headers }: Request,
    mayAsk = false,
  ): Promise<RpcAnswer> =>
    exchange(
      work,
      { id: work.nextId(), method, params: { ...params, _meta: mayAsk ? asking : plain } },
      { ...headers, 'mcp-protocol-version': MODERN, 'mcp-method': method },
    )

  return {
    ask,

    /** Asks for the server's revisions. A server that does not answer speaks an older one. */
    async isSpoken(work: ExchangeOptions): Promise<boolean> {
      const silence = new AbortController()
      const cancel = clock.after(MCP_PROBE_MS_MAX, () => silence.abort())
      const signal = AbortSignal.any([work.signal, silence.signal])
      const question = { method: 'server/discover', params: {}, headers: {} } as const
      try {
        const { result, error } = await ask({ ...work, signal }, question)
        if (error?.code === UNSUPPORTED_VERSION) return lists(error.data, 'supported')
        return lists(result, 'supportedVersions')
      } catch (error) {
        work.signal.throwIfAborted()
        if (silence.signal.aborted) return false
        throw error
      } finally {
        cancel()
      }
    },
  }
}

/** Whether the list of revisions in `field` has the modern one. */
function lists(value: unknown, field: string): boolean {
  const versions = isRecord(value) ? value[field] : null
  return Array.isArray(versions) && versions.includes(MODERN)
}

/** Encodes text that a header cannot hold as base64 between markers. */
export function headerText(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(text)
  if (isPlain && !/^=\?base64\?.*\?=$/.test(text)) return text
  return `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`
}
