import type { Destination } from './connection.ts'

export interface Target {
  /** Connections of one origin serve each other's requests. */
  readonly origin: string
  readonly destination: Destination
  readonly host: string
  readonly path: string
}

const NAME = /^[!#$%&'*+.^_`|~\w-]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

const DEFAULTS = Object.entries({
  'user-agent': 'moonbase',
  accept: '*/*',
  'accept-encoding': 'identity',
}).map(([name, value]) => [name, fieldLine(name, value)] as const)

/** Null for what is left to `fetch`: other schemes, and an address with a user's name in it. */
export function targetOf(url: string): Target | null {
  const { protocol, username, password, hostname, port, host, pathname, search, origin } = new URL(
    url,
  )
  const secured = protocol === 'https:'
  if ((!secured && protocol !== 'http:') || username !== '' || password !== '') return null
  return {
    origin,
    destination: {
      hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: Number(port) || (secured ? 443 : 80),
      secured,
    },
    host,
    path: pathname + search,
  }
}

/**
 * A whole request as it goes over the wire; null for one that is left to `fetch`, since only text
 * is sent here, or nothing, under plain headers. Throws `TypeError` for a header that would break
 * the request apart.
 */
export function requestText({ host, path }: Target, init: RequestInit): string | null {
  const { method = 'GET', body = null, headers = {} } = init
  if ((body !== null && typeof body !== 'string') || !isPlain(headers)) return null
  if (method !== 'GET' && method !== 'POST') return null
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\n`
  for (const [name, value] of Object.entries(headers)) head += fieldLine(name, value)
  for (const [name, line] of DEFAULTS) if (headers[name] === undefined) head += line
  if (body === null) return `${head}\r\n`
  return `${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

/** By lower-case names, as all of this program's own headers are. */
const isPlain = (headers: HeadersInit): headers is Record<string, string> =>
  Object.getPrototypeOf(headers) === Object.prototype

/** Throws `TypeError` for what would break the request apart. */
function fieldLine(name: string, value: string): string {
  if (!NAME.test(name) || !VALUE.test(value)) throw new TypeError('invalid header')
  return `${name}: ${value}\r\n`
}
