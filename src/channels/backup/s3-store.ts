import { AwsClient } from 'aws4fetch'
import { S3Client } from 'bun'
import { Parser } from 'htmlparser2'
import {
  type BackupStore,
  BackupStoreError,
  isBackupName,
  isOfBox,
  type StoredBackup,
} from '../../upstream/ports/backup-store.ts'

/** Parts of an upload: 10,000 of them are 156 GiB. */
const PART_BYTES = 16 * 1024 * 1024
const PARTS_AT_ONCE = 2
const PART_TRIES = 3
const WRITE_TRIES = 3
/** A list has 1,000 names a page; fourteen backups of a box are kept unless more are wanted. */
const LIST_PAGES_MAX = 100
const LIST_MS_MAX = 60_000

export interface S3Parts {
  readonly fetch: PlainFetch
  readonly sleep: (ms: number) => Promise<void>
  /** The id of this box: its unfinished uploads were left by a process that was killed. */
  readonly box: string
}

/** Backups as objects of a bucket of S3 or of a server that speaks its protocol. */
export function createS3Store(place: S3Place, { fetch, sleep, box }: S3Parts): BackupStore {
  const { bucket, prefix, endpoint, region } = place
  const folder = prefix === '' ? '' : `${prefix}/`
  const placeName = `s3://${bucket}/${prefix}`
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

  /** Retries here, because Bun's client retries parts of an upload but not a small object. */
  async function write(name: string, open: () => AsyncIterable<Uint8Array>): Promise<void> {
    const isOwn = (key: string) => isOfBox(key.slice(folder.length), box)
    const aborting = abortUnfinished(place, { fetch, isOwn, prefix: `${folder}moonbase-` })
    await inTime(aborting).catch(() => {})
    for (let tries = 1; ; tries++) {
      try {
        return await upload(name, open())
      } catch (error) {
        if (codeOfS3(error) === null || tries === WRITE_TRIES) throw error
        await sleep(1_000 * 4 ** (tries - 1))
      }
    }
  }

  /** Settles as the work, or rejects when it takes too long. */
  const inTime = <Result>(work: Promise<Result>): Promise<Result> =>
    Promise.race([
      work,
      sleep(LIST_MS_MAX).then(() => {
        throw endless(placeName, `${LIST_MS_MAX / 1_000} seconds`)
      }),
    ])

  return {
    place: placeName,
    list: () => explained(() => inTime(listAll(client, folder, placeName))),
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

const endless = (place: string, size: string) =>
  new BackupStoreError(
    `the list of ${place} does not end: it takes more than ${size}; choose another place`,
  )

/** All backups in the folder of the bucket, newest first. */
async function listAll(client: S3Client, folder: string, place: string): Promise<StoredBackup[]> {
  const found: StoredBackup[] = []
  let token: string | undefined
  let pages = 0
  do {
    if (pages++ === LIST_PAGES_MAX) throw endless(place, `${LIST_PAGES_MAX} pages`)
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

/** The error code of S3, such as `NoSuchBucket`; null for other errors. */
function codeOfS3(error: unknown): string | null {
  const { name, code } = error as { name?: unknown; code?: unknown }
  if (name === 'S3Error') return String(code)
  const isNetwork =
    typeof code === 'string' && /^(E[A-Z_]+|Connection\w+|FailedToOpen\w+)$/.test(code)
  return isNetwork ? code : null
}

/** Where a bucket is and who may use it: MB_BACKUP_S3 and the usual AWS variables. */
export interface S3Place {
  readonly bucket: string
  /** Without slashes at its ends; empty for the whole bucket. */
  readonly prefix: string
  /** Null for Amazon's own endpoint of the region. */
  readonly endpoint: string | null
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string | null
}

export type PlainFetch = (request: Request) => Promise<Response>

export interface UnfinishedParts {
  readonly fetch: PlainFetch
  readonly prefix: string
  /** Whether this box would have written the object. */
  readonly isOwn: (key: string) => boolean
}

/**
 * Aborts uploads in parts that a killed process has left: the parts are paid for, and no list of
 * objects shows them. Bun's client has no call for it.
 */
async function abortUnfinished(
  place: S3Place,
  { fetch, prefix, isOwn }: UnfinishedParts,
): Promise<void> {
  const { bucket, region, accessKeyId, secretAccessKey, sessionToken, endpoint } = place
  const credentials = { accessKeyId, secretAccessKey, region, service: 's3' }
  const aws = new AwsClient(sessionToken === null ? credentials : { ...credentials, sessionToken })
  const root =
    endpoint === null
      ? `https://${bucket}.s3.${region}.amazonaws.com`
      : `${endpoint.replace(/\/+$/, '')}/${bucket}`
  const ask = async (path: string, method: string) =>
    fetch(await aws.sign(`${root}${path}`, { method }))
  const answer = await ask(`/?uploads=&prefix=${encodeURIComponent(prefix)}`, 'GET')
  if (!answer.ok) return
  for (const { key, id } of uploadsOf(await answer.text())) {
    if (!isOwn(key)) continue
    await ask(`/${encodeKey(key)}?uploadId=${encodeURIComponent(id)}`, 'DELETE')
  }
}

const encodeKey = (key: string) => key.split('/').map(encodeURIComponent).join('/')

interface Unfinished {
  readonly key: string
  readonly id: string
}

/** The entries of a ListMultipartUploadsResult (Amazon S3 API). */
function uploadsOf(xml: string): Unfinished[] {
  const found: Unfinished[] = []
  let at: { key: string; id: string } | null = null
  let field: 'key' | 'id' | null = null
  const parser = new Parser(
    {
      onopentag(name) {
        if (name === 'Upload') at = { key: '', id: '' }
        field = name === 'Key' ? 'key' : name === 'UploadId' ? 'id' : null
      },
      ontext(text) {
        if (at && field) at[field] += text
      },
      onclosetag(name) {
        if (name === 'Upload' && at) {
          found.push(at)
          at = null
        }
        field = null
      },
    },
    { xmlMode: true },
  )
  parser.end(xml)
  return found
}
