import { AwsClient } from 'aws4fetch'
import { Parser } from 'htmlparser2'

/** Where a bucket is and who may use it: MB_BACKUP_S3 and the usual AWS variables. */
export interface S3Place {
  readonly bucket: string
  /** Without slashes at its ends; empty for the whole bucket. */
  readonly prefix: string
  /** Null: Amazon's own, by region. */
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
  /** Whether the object would have been this box's. */
  readonly isOwn: (key: string) => boolean
}

/**
 * Aborts uploads in parts that a killed process has left: the parts are paid for, and no list of
 * objects shows them. Bun's client has no call for it.
 */
export async function abortUnfinished(
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
