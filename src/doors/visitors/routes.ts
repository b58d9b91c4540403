import { Elysia } from 'elysia'
import { appError, type ErrorCode } from '../../core/errors.ts'
import { SHARE_TURNS_PER_MINUTE_MAX } from '../../core/limits/contract.ts'
import { ANONYMOUS_BODY_BYTES_MAX } from '../../core/limits/machine.ts'
import type { AgentEvent } from '../../features/agent/events.ts'
import type { Agent } from '../../features/agent/service.ts'
import type { Shares } from '../../features/shares/service.ts'
import type { OpenShare } from '../../features/shares/store.ts'
import { jsonBody } from '../../http/body.ts'
import { answerDoc, EVENTS_CONTENT } from '../../http/openapi-parts.ts'
import type { Origins } from '../../http/origin.ts'
import type { AddressLimit } from '../../http/request-limits.ts'
import { clientOf, type Sse } from '../../http/sse.ts'
import { sessionOf, VisitorTurn, visitorOf } from './visitor.ts'

export interface VisitorParts {
  readonly services: { readonly shares: Pick<Shares, 'open' | 'takeTurn'>; readonly agent: Agent }
  readonly auth: { readonly origins: Origins; readonly addressLimit: AddressLimit }
  readonly sse: Sse
  /** The chat page with `{app}` in place of the app's name, and the script of the widget. */
  readonly pages: { readonly share: string | null; readonly widget: string | null }
}

const HIDDEN = { detail: { hide: true } } as const

/** The error that a visitor sees in place of one that only concerns the tenant. */
const UNAVAILABLE: VisitorEvent = {
  type: 'error',
  code: 'turn_unavailable',
  message: appError('turn_unavailable').message,
}

const TURN_DOC = answerDoc(
  'Server-Sent Events; the data of each is JSON with its type field: sources (titles of the ' +
    'documents that the answer draws on), llm_delta (text), restart (the text so far is void), ' +
    'then llm_end (reply, the whole answer) or error (message and code). At most 10 a minute ' +
    'from one address and as many a day as the share allows: 429 with Retry-After.',
  EVENTS_CONTENT,
)

const turnBody = jsonBody(VisitorTurn, { bytesMax: ANONYMOUS_BODY_BYTES_MAX })

/**
 * Everything that the token of a share gives access to: the chat page, the script that embeds it in
 * a site, and turns of that one app. No route returns earlier turns: a visitor's history stays in
 * the browser.
 */
export function visitorRoutes(parts: VisitorParts) {
  const { services, auth, sse } = parts
  const { shares, agent } = services
  const { origins, addressLimit } = auth
  const limit = addressLimit('share', SHARE_TURNS_PER_MINUTE_MAX)

  /** Throws `cross_origin` for a page of a site that the share does not name. */
  function allowOrigin(request: Request, share: OpenShare, headers: Headers): void {
    headers.vary = 'Origin'
    const origin = request.headers.get('origin')
    if (origin === null || origin === origins.of(request) || origin === origins.asked(request)) {
      return
    }
    if (!share.origins.includes(origin)) throw appError('cross_origin')
    headers['access-control-allow-origin'] = origin
    headers['access-control-expose-headers'] = 'Retry-After, X-Error-Code, X-Request-Id'
  }

  return new Elysia({ name: 'visitors' })
    .use(visitorPages(parts))
    .options(
      '/s/:token',
      async ({ params, request, set }) => {
        allowOrigin(request, await shares.open(params.token), set.headers)
        set.headers['access-control-allow-methods'] = 'POST'
        set.headers['access-control-allow-headers'] = 'Content-Type'
        set.headers['access-control-max-age'] = '600'
        set.status = 204
        return ''
      },
      HIDDEN,
    )
    .post(
      '/s/:token',
      async ({ params, request, server, set }) => {
        const share = await shares.open(params.token)
        allowOrigin(request, share, set.headers)
        set.headers['cache-control'] = 'no-store'
        await limit({ request, server, set })
        const { text, session_id } = await turnBody.read(request)
        await shares.takeTurn(share)
        const visitor = visitorOf(share)
        const turnRequest = { text, images: [], kb: true, replace_last: false }
        const turn = await agent.openTurn(visitor, turnRequest, sessionOf(share, session_id))
        return sse.respond<VisitorEvent>(
          (signal, emit) =>
            turn.run(signal, (events) => {
              const visible = events.flatMap((event) => visibleTo(event, UNAVAILABLE))
              return visible.length > 0 ? emit(visible) : undefined
            }),
          VISITOR_STREAM,
          set,
          clientOf(visitor, request, server),
        )
      },
      {
        parse: 'none',
        detail: {
          summary: 'Ask an app as a visitor of its share',
          tags: ['shares'],
          requestBody: turnBody.doc,
          responses: TURN_DOC,
        },
      },
    )
}

type Headers = Record<string, string | number>

function visitorPages({ services: { shares }, pages }: VisitorParts) {
  async function chat(token: string, headers: Headers): Promise<Response> {
    const share = await shares.open(token)
    if (pages.share === null) throw appError('console_not_built')
    // The policy says who may frame the page; the older header knows no list.
    delete headers['x-frame-options']
    return new Response(
      pages.share.replaceAll('{app}', () => escaped(share.appName)),
      {
        headers: {
          'content-type': 'text/html; charset=utf-8',
          'content-security-policy': policyOf(share),
          'cache-control': 'no-store',
          'cross-origin-resource-policy': 'cross-origin',
          'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
          'x-robots-tag': 'noindex',
        },
      },
    )
  }

  function widget(): Response {
    if (pages.widget === null) throw appError('console_not_built')
    return new Response(pages.widget, {
      headers: {
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'public, max-age=300',
        'cross-origin-resource-policy': 'cross-origin',
      },
    })
  }

  return new Elysia({ name: 'visitor-pages' })
    .get('/s/:token', ({ params, set }) => chat(params.token, set.headers), HIDDEN)
    .head('/s/:token', ({ params, set }) => chat(params.token, set.headers), HIDDEN)
    .get('/widget.js', widget, HIDDEN)
    .head('/widget.js', widget, HIDDEN)
}

/** The page runs nothing but its own script, and only the sites of the share may frame it. */
const policyOf = ({ origins }: OpenShare): string =>
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
  `base-uri 'none'; form-action 'none'; frame-ancestors ${["'self'", ...origins].join(' ')}`

/** Names of apps are free text. */
const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)

/** The events of a turn that a visitor gets. */
export type VisitorEvent =
  /** Titles of the documents that the answer is based on; visitors cannot open them. */
  | { readonly type: 'sources'; readonly sources: readonly VisitorSource[] }
  | { readonly type: 'llm_delta'; readonly text: string }
  /** The answer starts over: the text shown so far is to be removed. */
  | { readonly type: 'restart' }
  | { readonly type: 'llm_end'; readonly reply: string }
  | { readonly type: 'error'; readonly message: string; readonly code: ErrorCode }

interface VisitorSource {
  readonly title: string
  readonly page: number | null
}

/** Errors that visitors see; all others become `UNAVAILABLE`. */
const TOLD: ReadonlySet<ErrorCode> = new Set([
  ...(['server_stopping', 'session_full', 'turn_too_long', 'turn_memory_full'] as const),
])

/** The visible part of an event: no ids, addresses, scores, tools, tokens or channels. */
function visibleTo(event: AgentEvent, hidden: VisitorEvent): VisitorEvent[] {
  switch (event.type) {
    case 'kb_refs':
      return [{ type: 'sources', sources: sourcesOf(event.refs) }]
    case 'llm_delta':
      return [{ type: 'llm_delta', text: event.text }]
    case 'provider_fallback':
      return [{ type: 'restart' }]
    case 'llm_end':
      return [{ type: 'llm_end', reply: event.reply }]
    case 'error':
      return [TOLD.has(event.code) ? event : hidden]
    default:
      return []
  }
}

function sourcesOf(refs: readonly { title: string; page: number | null }[]): VisitorSource[] {
  const sources = new Map<string, VisitorSource>()
  for (const { title, page } of refs) sources.set(`${title}\n${page}`, { title, page })
  return [...sources.values()]
}

/** How these events are streamed, for http/sse.ts. */
const VISITOR_STREAM = {
  frame: (event: VisitorEvent) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
  isLast: ({ type }: VisitorEvent) => type === 'llm_end' || type === 'error',
  onStop: (reason: { readonly message: string; readonly code: ErrorCode }): VisitorEvent => ({
    type: 'error',
    ...reason,
  }),
}
