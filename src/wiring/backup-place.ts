import type { Config } from '../config.ts'
import { sha256Hex } from '../core/crypto.ts'
import { OperatorError } from '../data-folder/operator-error.ts'
import { readSecretsText, secretsPath } from '../data-folder/secrets.ts'
import type { BackupStore } from '../upstream/ports/backup-store.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Eight hex digits that tell this server from others that share a place for backups. */
export function boxOf({ MB_DATA_DIR, MB_SESSION_SECRET }: Config): string {
  return boxOfSecrets(readSecretsText(secretsPath(MB_DATA_DIR)) ?? String(MB_SESSION_SECRET))
}

/** The same by the text of its secrets.json. */
export const boxOfSecrets = (secrets: string): string =>
  sha256Hex(`backups of ${secrets}`).slice(0, 8)

/** Opens a folder, or `s3://bucket/prefix` with the usual AWS variables. Throws `OperatorError`. */
export async function openBackupStore(place: string, env: Env, box: string): Promise<BackupStore> {
  if (!place.startsWith('s3://')) {
    const { createFolderStore } = await import('../channels/backup/folder-store.ts')
    return createFolderStore(place)
  }
  const { createS3Store } = await import('../channels/backup/s3-store.ts')
  const [bucket = '', ...path] = place.slice('s3://'.length).split('/')
  const accessKeyId = env.AWS_ACCESS_KEY_ID
  const secretAccessKey = env.AWS_SECRET_ACCESS_KEY
  if (!accessKeyId || !secretAccessKey) {
    throw new OperatorError(`${place} needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`)
  }
  const s3 = {
    bucket,
    prefix: path.filter(Boolean).join('/'),
    endpoint: env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || null,
    region: env.AWS_REGION || 'us-east-1',
    accessKeyId,
    secretAccessKey,
    sessionToken: env.AWS_SESSION_TOKEN || null,
  }
  return createS3Store(s3, { fetch, sleep: (ms) => Bun.sleep(ms), box })
}

/** Where this server stores its backups; null when that is not configured. */
export const backupPlace = ({ MB_BACKUP_S3, MB_BACKUP_DIR }: Config): string | null =>
  MB_BACKUP_S3 ?? MB_BACKUP_DIR ?? null
