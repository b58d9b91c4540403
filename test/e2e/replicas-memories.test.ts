import { describe, expect, test } from 'bun:test'
import { startApp } from '../support/app.ts'
import { appOf, askedOf, memoryClient } from '../support/memories.ts'
import { hasPostgres, startPostgres } from '../support/postgres.ts'
import { sharing } from '../support/sharing.ts'
import { startUpstream } from '../support/upstream.ts'

describe.skipIf(!hasPostgres())('the memory of two servers', () => {
  test('what one changes or deletes, the next turn of the other knows', async () => {
    await using postgres = await startPostgres('all')
    const upstream = await startUpstream()
    const env = {
      ...sharing(postgres.url),
    }
    await using one = await startApp({ env, upstream: upstream.baseUrl })
    await using two = await startApp({ env, upstream: upstream.baseUrl })
    try {
      const { headers } = await appOf(one, 'two@example.com', { memory: 'app' })
      const [here, there] = [one, two].map(({ url }) => memoryClient(`${url}/v1`, headers))
      if (!here || !there) throw new Error('no client')
      // More than are shown: they are ordered by vectors, which the second server keeps.
      const facts = []
      for (let i = 0; i < 30; i++) {
        facts.push(await here.tell({ subject: 'ann', text: `Fact ${i} of this house` }))
      }
      const shown = async () => {
        await there.ask({ text: 'What do you know?', subject: 'ann', kb: false })
        return askedOf(upstream).system.match(/(?:Fact|Truth) \d+ of this house/g) ?? []
      }
      expect(await shown()).toHaveLength(20)
      for (const { id } of facts.slice(0, 8)) await here.call('DELETE', `/memories/${id}`)
      const [next] = facts.slice(8)
      await here.call('PUT', `/memories/${next?.id}`, {
        text: 'Truth 8 of this house',
        pinned: true,
      })
      const seen = await shown()
      expect(seen[0]).toBe('Truth 8 of this house')
      for (let i = 0; i <= 8; i++) expect(seen).not.toContain(`Fact ${i} of this house`)
      expect((await here.call('DELETE', '/memories?subject=ann')).json()).toEqual({ deleted: 22 })
      expect(await shown()).toEqual([])
    } finally {
      await upstream.stop()
    }
  }, 60_000)
})
