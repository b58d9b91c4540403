import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { type Config, ConfigError } from '../config.ts'
import { randomHex } from '../core/crypto.ts'

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

/** The text of secrets.json as it lies there. */
export const readSecretsText = (dataDir: string) => readFileSync(secretsPath(dataDir), 'utf8')

export const secretsPath = (dataDir: string) => join(dataDir, 'secrets.json')

/**
 * The keys of the box (contract section 4): made on first start, overridden by the environment.
 * A file that is there but unreadable stops the start, for a new one would make every stored
 * provider key undecipherable.
 */
export function openSecrets(config: Config): Secrets {
  const path = secretsPath(config.MB_DATA_DIR)
  const file = readSecrets(path) ?? createSecrets(path)
  const encryption = config.MB_ENCRYPTION_KEY
  return {
    session: config.MB_SESSION_SECRET ?? file.session_secret,
    encryption: encryption === 'off' ? null : (encryption ?? file.encryption_key),
  }
}

function readSecrets(path: string) {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new ConfigError(
      `MB_DATA_DIR holds a secrets.json that this user cannot read (${path}); give it the right to`,
    )
  }
  if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600)
  const secrets = parseSecrets(text)
  if (secrets) return secrets
  throw new ConfigError(
    `MB_DATA_DIR holds a damaged secrets.json (${path}); put it back from a backup`,
  )
}

/** The keys in the text of a secrets.json; null when it is damaged. */
export function parseSecrets(text: string) {
  try {
    return SecretsFile.safeParse(JSON.parse(text), { jitless: true }).data ?? null
  } catch {
    return null
  }
}

/** Two first starts at once: `link` lets one file win, whole, and both read that one. */
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
