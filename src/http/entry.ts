import { Elysia } from 'elysia'
import { appError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { SITE_HEADERS } from './headers.ts'
import { isHost } from './origin.ts'
import type { RequestContexts } from './request-context.ts'

const REQUEST_ID = /^[A-Za-z0-9_-]{1,64}$/

/** Any page may call the machine side, which uses no cookies (contract, CORS). */
const MACHINE_CORS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'X-Request-Id, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, ' +
    'X-Audio-Format, X-Error-Code, X-Error-Params',
} as const

const PREFLIGHT = {
  ...MACHINE_CORS,
  'access-control-allow-methods': 'GET, POST, PUT, DELETE, OPTIONS',
  'access-control-allow-headers': 'Authorization, Content-Type, X-Request-Id',
  'access-control-max-age': '86400',
} as const

/** The path of an absolute URL begins after its third slash. */
const isMachineSide = (url: string) => url.startsWith('/v1/', url.indexOf('/', 8))

/**
 * First plugin: creates the request context and id, sets headers, answers CORS preflights. Refuses
 * a malformed Host.
 */
export const entry = (contexts: RequestContexts) =>
  new Elysia({ name: 'entry' }).onRequest(({ request, set }) => {
    const given = request.headers.get('x-request-id')
    const id = given && REQUEST_ID.test(given) ? given : newId()
    contexts.begin(request, id)
    set.headers['x-request-id'] = id
    set.headers['x-content-type-options'] = 'nosniff'
    if (!isHost(request.headers.get('host') ?? '')) throw appError('invalid_host')
    if (!isMachineSide(request.url)) {
      Object.assign(set.headers, SITE_HEADERS)
      return
    }
    if (request.method === 'OPTIONS') {
      return new Response(null, { status: 204, headers: { ...PREFLIGHT, ...ids(set.headers) } })
    }
    Object.assign(set.headers, MACHINE_CORS)
  })

function ids(headers: Record<string, string | number>): Record<string, string> {
  return { 'x-request-id': String(headers['x-request-id']) }
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
