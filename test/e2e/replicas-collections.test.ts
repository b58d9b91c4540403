import { describe, expect, test } from 'bun:test'
import { startApp } from '../support/app.ts'
import { ASK, collectionTenant, refsOf, TEXT } from '../support/collections.ts'
import { hasPostgres, startPostgres } from '../support/postgres.ts'
import { sharing } from '../support/sharing.ts'
import { postSse } from '../support/sse.ts'
import { startUpstream } from '../support/upstream.ts'

describe.skipIf(!hasPostgres())('the wall of two servers', () => {
  test("an app's list that changes at one reaches the other", async () => {
    await using postgres = await startPostgres('all')
    const upstream = await startUpstream()
    const env = {
      ...sharing(postgres.url),
    }
    await using one = await startApp({ env, upstream: upstream.baseUrl })
    await using two = await startApp({ env, upstream: upstream.baseUrl })
    try {
      const { me, collection, doc, appOf } = await collectionTenant(one)
      const [a, b] = [await collection('甲'), await collection('乙')]
      const inA = await doc('甲文', `${TEXT}甲`, a)
      const inB = await doc('乙文', `${TEXT}乙`, b)
      const { id, headers } = await appOf([a])
      const refs = async () => {
        const stream = await postSse(`${two.url}/v1/agent`, { headers, body: { text: ASK } })
        return refsOf((await stream.all()).map(({ data }) => data)).join()
      }
      // The second server keeps what the turn was configured by.
      expect(await refs()).toBe(inA)
      await me('PUT', `/apps/${id}`, { name: 'other', collections: [b] })
      let seen = await refs()
      while (seen === inA) seen = await refs()
      expect(seen).toBe(inB)
    } finally {
      await upstream.stop()
    }
  }, 60_000)
})
