import { readFileSync } from 'node:fs'
import type { ConnectionOptions as TlsOptions } from 'node:tls'
import type { ClientConfig } from 'pg'
import { DatabaseAway } from '../../core/errors.ts'

/** The fault's code when the file of `sslrootcert` cannot be read. */
const NO_CERTIFICATES = 'sslrootcert'
const TLS = /^(?:ERR_TLS|ERR_SSL|CERT_|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|sslrootcert$)/

/** Which part of the address was refused; null when the server is away or still starting. */
export function refusalOf({ code }: DatabaseAway): 'user' | 'database' | 'certificate' | null {
  if (code.startsWith('28')) return 'user'
  if (code === '3D000') return 'database'
  return TLS.test(code) ? 'certificate' : null
}

/** Modes that believe every certificate. The driver takes them for `verify-full`. */
const TRUSTING = new Set(['require', 'prefer', 'allow'])

/**
 * An address as the driver takes it, with `sslmode` and `sslrootcert` as PostgreSQL's own programs
 * understand them. Other parameters are settings of the session, as `search_path` is.
 */
export function parseAddress(url: string): ClientConfig {
  const address = new URL(url)
  const query = new Map(address.searchParams)
  const ssl = tlsOf(query.get('sslmode') ?? 'disable', query.get('sslrootcert') ?? null)
  const set = [...query].filter(([name]) => !name.startsWith('ssl') && name !== 'options')
  const given = query.get('options')
  const options = [
    ...(given ? [given] : []),
    ...set.map(([name, to]) => `-c ${name}=${quoted(to)}`),
  ]
  const { username, password, hostname, port, pathname } = address
  const database = decodeURIComponent(pathname.slice(1))
  return {
    host: decodeURIComponent(hostname).replace(/^\[(.*)\]$/, '$1'),
    port: Number(port) || 5432,
    ssl,
    ...(username ? { user: decodeURIComponent(username) } : {}),
    ...(password ? { password: decodeURIComponent(password) } : {}),
    ...(database ? { database } : {}),
    ...(options.length > 0 ? { options: options.join(' ') } : {}),
  }
}

/** A value in the syntax of a command line. */
const quoted = (value: string) => value.replaceAll(/[\\\s]/g, '\\$&')

function tlsOf(mode: string, authorities: string | null): false | TlsOptions {
  if (authorities !== null && authorities !== 'system') return { ca: readAuthorities(authorities) }
  if (authorities === null && mode === 'disable') return false
  return authorities === null && TRUSTING.has(mode) ? { rejectUnauthorized: false } : {}
}

function readAuthorities(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    throw new DatabaseAway(NO_CERTIFICATES, `the file of sslrootcert cannot be read: ${file}`)
  }
}
