import { expect, test } from 'bun:test'
import { BackupStoreError } from '../../upstream/ports/backup-store.ts'
import { createS3Store } from './s3-store.ts'

/** A bucket whose list is what `answer` gives. */
function startBucket(answer: () => Response | Promise<Response>) {
  let asked = 0
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch() {
      asked++
      return answer()
    },
  })
  const endpoint = `http://127.0.0.1:${server.port}`
  const keys = { accessKeyId: 'a', secretAccessKey: 'b', sessionToken: null }
  return {
    place: { ...keys, bucket: 'archive', prefix: '', endpoint, region: 'r' },
    asked: () => asked,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

const page = () =>
  new Response(
    `<?xml version="1.0"?><ListBucketResult><IsTruncated>true</IsTruncated>
     <NextContinuationToken>more</NextContinuationToken></ListBucketResult>`,
    { headers: { 'content-type': 'application/xml' } },
  )
const never = () => new Promise<void>(() => {})

test('a list whose pages never end is given up with a sentence', async () => {
  await using bucket = startBucket(page)
  const store = createS3Store(bucket.place, { fetch, sleep: never, box: '01234567' })
  const error = await store.list().catch((error: unknown) => error)
  expect(error).toBeInstanceOf(BackupStoreError)
  expect(String(error)).toContain('the list of s3://archive/ does not end')
  expect(bucket.asked()).toBe(100)
})

test('a list that does not come is given up with a sentence', async () => {
  const asked = Promise.withResolvers<void>()
  await using bucket = startBucket(async () => {
    asked.resolve()
    await never()
    return page()
  })
  const store = createS3Store(bucket.place, { fetch, sleep: () => asked.promise, box: '01234567' })
  const error = await store.list().catch((error: unknown) => error)
  expect(error).toBeInstanceOf(BackupStoreError)
  expect(String(error)).toContain('60 seconds')
})
