import {
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { type Config, ConfigError } from '../config.ts'
import { randomHex } from '../core/crypto.ts'
import { closeFile, openPrivate, UnsafePathError } from '../core/private-files.ts'

export interface Secrets {
  /** Signs console sessions and seals login flows; at least 32 bytes. */
  readonly session: Uint8Array
  /** AES-256 key of provider keys at rest; null when the operator switched encryption off. */
  readonly encryption: Uint8Array | null
}

const key = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .transform((hex) => Buffer.from(hex, 'hex'))
const SecretsFile = z.object({ session_secret: key, encryption_key: key })

export const secretsPath = (dataDir: string) => join(dataDir, 'secrets.json')

/**
 * The keys of this server: created at the first start, overridden by the environment. An
 * unreadable file stops the start, and so does a missing one when `hasSealedKeys`: with a new key
 * no stored provider key could be decrypted again.
 */
export function openSecrets(config: Config, hasSealedKeys = () => false): Secrets {
  const path = secretsPath(config.MB_DATA_DIR)
  const encryption = config.MB_ENCRYPTION_KEY
  const session = config.MB_SESSION_SECRET
  if (config.MB_DATABASE_URL !== undefined && session && encryption && encryption !== 'off') {
    // Servers that share a database have them in the environment and no file.
    return { session, encryption }
  }
  const known = readSecrets(path)
  if (!known && encryption === undefined && hasSealedKeys()) throw lostSecrets(path)
  const file = known ?? createSecrets(path)
  return {
    session: config.MB_SESSION_SECRET ?? file.session_secret,
    encryption: encryption === 'off' ? null : (encryption ?? file.encryption_key),
  }
}

const lostSecrets = (path: string) =>
  new ConfigError(
    `${path} is missing, and the database holds model keys that only it deciphers; put it back ` +
      'from a backup, or give those keys up: start once with MB_ENCRYPTION_KEY=off',
  )

function readSecrets(path: string) {
  const text = readSecretsText(path)
  if (text === null) return null
  const secrets = parseSecrets(text)
  if (secrets) return secrets
  throw new ConfigError(
    `MB_DATA_DIR holds a damaged secrets.json (${path}); put it back from a backup`,
  )
}

/** The text of the file; removes other users' permissions from it. Null when there is none. */
export function readSecretsText(path: string): string | null {
  try {
    closeFile(path)
    const file = openPrivate(path, constants.O_RDONLY)
    try {
      return readFileSync(file, 'utf8')
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    if (error instanceof UnsafePathError) throw error
    throw new ConfigError(
      `MB_DATA_DIR holds a secrets.json that this user cannot read (${path}); give it the right to`,
    )
  }
}

/** The keys in the text of a secrets.json; null when it is damaged. */
export function parseSecrets(text: string) {
  try {
    return SecretsFile.safeParse(JSON.parse(text), { jitless: true }).data ?? null
  } catch {
    return null
  }
}

/**
 * Creates the file. Of two simultaneous first starts `link` lets only one succeed; both read it.
 */
function createSecrets(path: string) {
  const made = { session_secret: randomHex(32), encryption_key: randomHex(32) }
  const draft = `${path}.${randomHex(8)}`
  const file = openSync(draft, 'wx', 0o600)
  try {
    writeSync(file, `${JSON.stringify(made, null, 2)}\n`)
    fsyncSync(file)
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    closeSync(file)
    unlinkSync(draft)
  }
  const kept = readSecrets(path)
  if (!kept) throw new Error('secrets.json vanished while it was made')
  return kept
}
