import { AwsV4Signer } from 'aws4fetch'

/** What clients of this bucket sign with. */
const S3_KEYS = { accessKeyId: 'AKTEST', secretAccessKey: 'secret of the bucket' } as const
const REGION = 'eu-test-1'
export const BUCKET = 'archive'

interface Upload {
  readonly key: string
  readonly parts: Map<number, Uint8Array>
}

/**
 * A bucket that speaks as much of S3 (path style) as backups need, checks every signature
 * (Signature Version 4) and keeps objects in memory. Real servers are out of reach of tests.
 */
export function startS3() {
  const objects = new Map<string, Uint8Array>()
  const uploads = new Map<string, Upload>()
  /** Answers for the next requests that match; consumed one by one. */
  const faults: { readonly method: string; readonly status: number; readonly code: string }[] = []
  const refusals: string[] = []
  let made = 0

  const refuse = (status: number, code: string) =>
    new Response(`<?xml version="1.0"?><Error><Code>${code}</Code></Error>`, { status })
  const xml = (text: string) =>
    new Response(`<?xml version="1.0"?>${text}`, { headers: { 'content-type': 'application/xml' } })

  async function onObject(request: Request, key: string, query: URLSearchParams) {
    const id = query.get('uploadId')
    const upload = id === null ? undefined : uploads.get(id)
    if (id !== null && !upload) return refuse(404, 'NoSuchUpload')
    if (request.method === 'POST' && query.has('uploads')) {
      const name = `upload-${++made}`
      uploads.set(name, { key, parts: new Map() })
      return xml(element('InitiateMultipartUploadResult', element('UploadId', name)))
    }
    if (request.method === 'PUT') {
      const bytes = await request.bytes()
      const headers = { etag: `"${Bun.hash(bytes).toString(16)}"` }
      if (upload) upload.parts.set(Number(query.get('partNumber')), bytes)
      else objects.set(key, bytes)
      return new Response(null, { headers })
    }
    if (request.method === 'POST' && upload && id !== null) {
      const parts = [...upload.parts].sort(([a], [b]) => a - b).map(([, bytes]) => bytes)
      objects.set(key, Buffer.concat(parts))
      uploads.delete(id)
      return xml('<CompleteMultipartUploadResult><ETag>"x"</ETag></CompleteMultipartUploadResult>')
    }
    if (request.method === 'DELETE') {
      if (id === null) objects.delete(key)
      else uploads.delete(id)
      return new Response(null, { status: 204 })
    }
    const found = objects.get(key)
    return found ? new Response(Buffer.from(found)) : refuse(404, 'NoSuchKey')
  }

  /** In pages of two, so that a client has to ask for the next one. */
  function onBucket(query: URLSearchParams): Response {
    const prefix = query.get('prefix') ?? ''
    if (query.has('uploads')) {
      const rows = [...uploads].filter(([, { key }]) => key.startsWith(prefix))
      const text = rows.map(([id, { key }]) => `<Key>${key}</Key><UploadId>${id}</UploadId>`)
      const body = text.map((row) => `<Upload>${row}</Upload>`).join('')
      return xml(`<ListMultipartUploadsResult>${body}</ListMultipartUploadsResult>`)
    }
    const after = query.get('continuation-token') ?? ''
    const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort()
    const page = keys.slice(0, 2)
    const rows = page.map(
      (key) => `<Contents><Key>${key}</Key><Size>${objects.get(key)?.length}</Size></Contents>`,
    )
    const cut = page.length < keys.length
    const more = cut ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ''
    const isCut = element('IsTruncated', String(cut))
    return xml(element('ListBucketResult', `${isCut}${more}${rows.join('')}`))
  }

  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, searchParams } = new URL(request.url)
      const fault = faults.findIndex(({ method }) => method === request.method)
      const [told] = fault < 0 ? [] : faults.splice(fault, 1)
      if (told) return refuse(told.status, told.code)
      if (!(await isSigned(request))) {
        refusals.push(`${request.method} ${pathname}`)
        return refuse(403, 'SignatureDoesNotMatch')
      }
      const [, bucket, ...path] = pathname.split('/')
      if (bucket !== BUCKET) return refuse(404, 'NoSuchBucket')
      const key = decodeURIComponent(path.join('/'))
      return key === '' ? onBucket(searchParams) : onObject(request, key, searchParams)
    },
  })
  const url = `http://127.0.0.1:${server.port}`
  return {
    objects,
    uploads,
    faults,
    /** Requests with a wrong signature. */
    refusals,
    env: {
      AWS_ACCESS_KEY_ID: S3_KEYS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: S3_KEYS.secretAccessKey,
      AWS_REGION: REGION,
      AWS_ENDPOINT_URL_S3: url,
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

const element = (name: string, content: string) => `<${name}>${content}</${name}>`

/** Signs the request again, with the headers that the client has signed. */
async function isSigned(request: Request): Promise<boolean> {
  const given = request.headers.get('authorization') ?? ''
  const names = /SignedHeaders=([^,]+)/.exec(given)?.[1]?.split(';') ?? []
  const headers = names.map((name): [string, string] => [name, request.headers.get(name) ?? ''])
  const signer = new AwsV4Signer({
    ...S3_KEYS,
    method: request.method,
    url: request.url,
    headers: headers.filter(([name]) => name !== 'host'),
    region: REGION,
    service: 's3',
    datetime: request.headers.get('x-amz-date') ?? '',
  })
  const signature = /Signature=([0-9a-f]+)/
  const expected = signature.exec(await signer.authHeader())?.[1]
  return expected !== undefined && signature.exec(given)?.[1] === expected
}
