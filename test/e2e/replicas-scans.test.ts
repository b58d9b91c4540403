import { describe, expect, test } from 'bun:test'
import type { Source } from '../../src/features/knowledge/sources/model.ts'
import { caller } from '../support/api.ts'
import { startApp } from '../support/app.ts'
import { hasPostgres, startPostgres } from '../support/postgres.ts'
import { scansOf, setScans } from '../support/scans.ts'
import { sharing } from '../support/sharing.ts'
import { startUpstream } from '../support/upstream.ts'

describe.skipIf(!hasPostgres())('a scan of two servers', () => {
  test('that is deleted at one sends the model no page more from the other', async () => {
    await using postgres = await startPostgres('all')
    const upstream = await startUpstream()
    const never = Promise.withResolvers<void>()
    const options = { env: sharing(postgres.url), upstream: upstream.baseUrl }
    await using one = await startApp(options)
    try {
      const person = await one.person()
      expect(await setScans(one, person)).toBe(200)
      upstream.reply({ text: 'The first page.' })
      upstream.chat.always({ text: '…', holdHeaders: never.promise })
      const body = new FormData()
      body.set('file', new File([scansOf(8) as BlobPart], 'a.pdf'))
      const { headers } = await one.key()
      const sent = await fetch(`${one.url}/v1/kb/files`, { method: 'POST', headers, body })
      const { id } = (await sent.json()) as Source
      while (upstream.active() < 2) await Bun.sleep(5)
      // Only now there is another one, so it is the first that reads.
      await using two = await startApp(options)
      const gone = await caller(`${two.url}/v1`, headers)('DELETE', `/kb/sources/${id}`)
      expect(gone.status).toBe(200)
      while (upstream.active() > 0) await Bun.sleep(5)
      await one.jobs.idle()
      expect(upstream.requests).toHaveLength(3)
    } finally {
      never.resolve()
      await upstream.stop()
    }
  }, 60_000)
})
