import { S3Client } from 'bun'
import {
  type BackupStore,
  BackupStoreError,
  isBackupName,
  isOfBox,
  type StoredBackup,
} from '../ports/backup-store.ts'
import { abortUnfinished, type PlainFetch, type S3Place } from './unfinished-uploads.ts'

/** Parts of an upload: 10,000 of them are 156 GiB. */
const PART_BYTES = 16 * 1024 * 1024
const PARTS_AT_ONCE = 2
const PART_TRIES = 3
const WRITE_TRIES = 3

export interface S3Parts {
  readonly fetch: PlainFetch
  readonly sleep: (ms: number) => Promise<void>
  /** Unfinished uploads of this box are of a process that was killed. */
  readonly box: string
}

/** Backups as objects of a bucket of S3 or of a server that speaks its protocol. */
export function createS3Store(place: S3Place, { fetch, sleep, box }: S3Parts): BackupStore {
  const { bucket, prefix, endpoint, region } = place
  const folder = prefix === '' ? '' : `${prefix}/`
  const client = new S3Client({
    bucket,
    region,
    accessKeyId: place.accessKeyId,
    secretAccessKey: place.secretAccessKey,
    ...(place.sessionToken === null ? {} : { sessionToken: place.sessionToken }),
    ...(endpoint === null ? { virtualHostedStyle: true } : { endpoint }),
  })

  async function explained<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      const code = codeOfS3(error)
      if (code === null) throw error
      throw new BackupStoreError(`the bucket ${bucket} does not do it: ${code}`)
    }
  }

  async function upload(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const writer = client.file(folder + name).writer({
      partSize: PART_BYTES,
      queueSize: PARTS_AT_ONCE,
      retry: PART_TRIES,
      type: 'application/octet-stream',
    })
    for await (const piece of bytes) {
      writer.write(piece)
      await writer.flush()
    }
    await writer.end()
  }

  /** Bun's client asks again for parts of an upload, and not for a small object sent at once. */
  async function write(name: string, open: () => AsyncIterable<Uint8Array>): Promise<void> {
    const isOwn = (key: string) => isOfBox(key.slice(folder.length), box)
    await abortUnfinished(place, { fetch, isOwn, prefix: `${folder}moonbase-` }).catch(() => {})
    for (let tries = 1; ; tries++) {
      try {
        return await upload(name, open())
      } catch (error) {
        if (codeOfS3(error) === null || tries === WRITE_TRIES) throw error
        await sleep(1_000 * 4 ** (tries - 1))
      }
    }
  }

  async function list(): Promise<StoredBackup[]> {
    const found: StoredBackup[] = []
    let token: string | undefined
    do {
      const page = await client.list({
        prefix: `${folder}moonbase-`,
        ...(token === undefined ? {} : { continuationToken: token }),
      })
      for (const { key, size = 0 } of page.contents ?? []) {
        const name = key.slice(folder.length)
        if (isBackupName(name)) found.push({ name, bytes: size })
      }
      token = page.isTruncated ? page.nextContinuationToken : undefined
    } while (token !== undefined)
    return found.sort((a, b) => b.name.localeCompare(a.name))
  }

  return {
    place: `s3://${bucket}/${prefix}`,
    list: () => explained(list),
    write: (name, open) => explained(() => write(name, open)),
    async *read(name) {
      const reader = client
        .file(folder + name)
        .stream()
        .getReader()
      for (;;) {
        const { value, done } = await explained(() => reader.read())
        if (done) return
        yield value
      }
    },
    remove: (name) => explained(() => client.delete(folder + name)),
  }
}

/** The word of S3 for what went wrong, such as `NoSuchBucket`; null for other errors. */
function codeOfS3(error: unknown): string | null {
  const { name, code } = error as { name?: unknown; code?: unknown }
  if (name === 'S3Error') return String(code)
  const isNetwork =
    typeof code === 'string' && /^(E[A-Z_]+|Connection\w+|FailedToOpen\w+)$/.test(code)
  return isNetwork ? code : null
}
