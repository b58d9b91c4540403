import { readFileSync } from 'node:fs'
import { type Config, ConfigError } from '../config.ts'
import { nodeCrypto } from '../core/crypto.ts'
import { codeOf } from '../data-folder/operator-error.ts'

export interface Tls {
  readonly cert: string
  readonly key: string
  /** When the certificate is no longer valid. */
  readonly until: Date
}

/**
 * The certificate and key to serve https with; null when none is set. Both are checked at start,
 * because a browser would show a mistake to visitors only. Throws `ConfigError`.
 */
export function loadTls({ MB_TLS_CERT, MB_TLS_KEY }: Config): Tls | null {
  if (MB_TLS_CERT === undefined || MB_TLS_KEY === undefined) return null
  const cert = readPem('MB_TLS_CERT', MB_TLS_CERT)
  const key = readPem('MB_TLS_KEY', MB_TLS_KEY)
  const { createPrivateKey, X509Certificate } = nodeCrypto()
  const certificate = parse('MB_TLS_CERT', MB_TLS_CERT, () => new X509Certificate(cert))
  const privateKey = parse('MB_TLS_KEY', MB_TLS_KEY, () => createPrivateKey(key))
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new ConfigError('MB_TLS_KEY does not belong to the certificate of MB_TLS_CERT')
  }
  return { cert, key, until: new Date(certificate.validTo) }
}

function readPem(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const missing = codeOf(error) === 'ENOENT'
    throw new ConfigError(`${name} ${path} ${missing ? 'does not exist' : 'cannot be read'}`)
  }
}

function parse<Result>(name: string, path: string, work: () => Result): Result {
  try {
    return work()
  } catch {
    throw new ConfigError(`${name} ${path} holds no PEM that can be used`)
  }
}
