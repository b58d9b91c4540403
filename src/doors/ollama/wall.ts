import ipaddr from 'ipaddr.js'
import { isLoopback } from '../../core/loopback.ts'

export interface Wall {
  /** The host of MB_PUBLIC_URL; null where it is not set. */
  readonly publicHost: string | null
  /** Origins that the operator allows. */
  readonly origins: readonly string[]
}

const LOCAL_NAME = /^(?:[a-z0-9_-]+|.+\.(?:local|lan|home\.arpa|internal))$/
const APP_ORIGIN = /^(?:app|file|tauri|vscode-webview|vscode-file):\/\//

/**
 * Whether a request may use a port that asks for no key. A page of a stranger can make a browser
 * call this machine: by a name that it has bound to this address, which `Host` shows, or from
 * its own origin.
 */
export function isLetIn({ headers }: Request, wall: Wall): boolean {
  const origin = headers.get('origin')
  return isHostKnown(headers.get('host') ?? '', wall) && isOriginKnown(origin, wall)
}

function isHostKnown(given: string, { publicHost }: Wall): boolean {
  const host = given.toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '')
  if (host.startsWith('[')) return ipaddr.isValid(host.slice(1, -1))
  return ipaddr.isValid(host) || LOCAL_NAME.test(host) || host === publicHost
}

function isOriginKnown(origin: string | null, { origins }: Wall): boolean {
  if (origin === null || origins.includes(origin) || APP_ORIGIN.test(origin)) return true
  const url = URL.parse(origin)
  return url !== null && /^https?:$/.test(url.protocol) && isLoopback(url.hostname)
}
