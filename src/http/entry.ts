import { Elysia } from 'elysia'
import { newId } from '../core/crypto.ts'
import { appError } from '../core/errors.ts'
import { isAnthropic } from './error-forms.ts'
import type { RequestContexts } from './observe.ts'
import { isOllamaPath, isThroughOllama } from './ollama-path.ts'
import { pathOf } from './openai-answers.ts'

const REQUEST_ID = /^[A-Za-z0-9_-]{1,64}$/

/** The id that the client has given its request, or a new one. */
export function requestIdOf({ headers }: Request): string {
  const given = headers.get('x-request-id')
  return given && REQUEST_ID.test(given) ? given : newId()
}

/** Any page may call the machine side, which uses no cookies. */
const MACHINE_CORS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'X-Request-Id, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, ' +
    'X-Audio-Format, X-Error-Code, X-Error-Params, X-Moonbase-Channel, X-Moonbase, request-id',
} as const

const PREFLIGHT = {
  ...MACHINE_CORS,
  'access-control-allow-methods': 'GET, POST, PUT, DELETE, OPTIONS',
  // The star is for the headers that OpenAI's client adds in a page; it never means Authorization.
  'access-control-allow-headers':
    'Authorization, Content-Type, X-Request-Id, X-Moonbase-Session, X-Moonbase-Subject, ' +
    'X-Moonbase-Kb, x-api-key, anthropic-version, anthropic-beta, ' +
    'anthropic-dangerous-direct-browser-access, *',
  'access-control-max-age': '86400',
} as const

/**
 * Headers of every answer except those of the machine side: no page may frame it unless it says so
 * itself (pages of shares, the frame of drawings), and links send no Referer. JSON and plain text
 * get the strictest policy; a page sets its own `content-security-policy`.
 */
const SITE_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
} as const

/** For the routes of stock devices: simulators of such devices run in pages of other origins. */
const DEVICE_PREFLIGHT = {
  ...PREFLIGHT,
  'access-control-allow-headers':
    'Authorization, Content-Type, X-Request-Id, Device-Id, Client-Id, Activation-Version, ' +
    'Serial-Number, Protocol-Version, *',
} as const

/** The path of an absolute URL begins after its third slash. */
const pathStartsWith = (url: string, prefix: string) => url.startsWith(prefix, url.indexOf('/', 8))
/** `/xiaozhi` without anything after it is a path of devices, too. */
const isDeviceSide = (url: string) => /^\/xiaozhi(?:[/?]|$)/.test(url.slice(url.indexOf('/', 8)))

/**
 * First plugin: creates the request context and id, sets headers, answers CORS preflights. Refuses
 * a malformed Host.
 */
export const entry = (contexts: RequestContexts) =>
  new Elysia({ name: 'entry' }).onRequest(({ request, set }) => {
    const id = requestIdOf(request)
    contexts.begin(request, id)
    set.headers['x-request-id'] = id
    set.headers['x-content-type-options'] = 'nosniff'
    if (isAnthropic(request)) set.headers['request-id'] = id
    if (isThroughOllama(request)) set.headers['x-moonbase'] = '1'
    if (!isHost(request.headers.get('host') ?? '')) throw appError('invalid_host')
    const preflight = preflightOf(request.url)
    if (preflight === null) {
      Object.assign(set.headers, SITE_HEADERS)
      return
    }
    if (request.method === 'OPTIONS') {
      return new Response(null, {
        status: 204,
        headers: { ...preflight, ...ids(set.headers, request) },
      })
    }
    Object.assign(set.headers, MACHINE_CORS)
  })

/** Null for pages and the console, which other origins may not use. */
function preflightOf(url: string): Readonly<Record<string, string>> | null {
  if (pathStartsWith(url, '/v1/') || isOllamaPath(pathOf(url))) return PREFLIGHT
  return pathStartsWith(url, '/xiaozhi') && isDeviceSide(url) ? DEVICE_PREFLIGHT : null
}

function ids(headers: Record<string, string | number>, request: Request): Record<string, string> {
  const door = isThroughOllama(request) ? { 'x-moonbase': '1' } : {}
  return { 'x-request-id': String(headers['x-request-id']), ...door }
}

/** Elysia looks for the path of a URL after this many characters. */
const SKIPPED_CHARS = 11

/**
 * Lets Elysia find the path after `https://` and a host of one or two letters, where it starts to
 * look too late: the default port of https makes the URL long enough. The request object stays the
 * one that the server knows.
 */
export function findablePath(request: Request): Request {
  const { url } = request
  const path = url.indexOf('/', 'https://'.length)
  if (path >= SKIPPED_CHARS) return request
  const value = `${url.slice(0, path)}:443${url.slice(path)}`
  return Object.defineProperty(request, 'url', { value })
}

/** For HTML, besides its policy: no access from other windows, no camera or location. */
export const PAGE_HEADERS = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(self), payment=(), usb=()',
} as const

/** The headers that hooks have set for the coming answer, as Elysia holds them. */
export interface ResponseHeaders {
  headers: Record<string, string | number>
}

/**
 * Moves the headers into a `Response` of our own. If they stayed, Elysia would merge them by
 * wrapping the body in a second response, which costs more than the rest of its work.
 */
export function takeHeaders(set: ResponseHeaders): Record<string, string> {
  const taken: Record<string, string> = {}
  for (const [name, value] of Object.entries(set.headers)) taken[name] = String(value)
  set.headers = {}
  return taken
}

/** A name or address with an optional port; anything else could change URLs that contain it. */
const FORM = /^(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i

/**
 * Whether this is a host as a Host header names it (RFC 9110, section 7.2). The form alone lets
 * through ports above 65535 and addresses such as 256.0.0.1.
 */
export const isHost = (text: string): boolean => FORM.test(text) && URL.canParse(`http://${text}`)
