import { expect, test } from 'bun:test'
import { getPriority } from 'node:os'
import { createKey } from '../support/key.ts'
import { nicenessOf } from '../support/niceness.ts'
import { startServer } from '../support/server.ts'
import { tempFolder } from '../support/temp.ts'

/** What one tenant looks at takes little from the turns of others. */

test('lists are read at a lower priority than the server has', async () => {
  using folder = tempFolder()
  const key = await createKey(folder.path)
  await using server = await startServer({ dataDir: folder.path })
  expect(nicenessOf(server.pid)).not.toContain(10)
  expect((await fetch(`${server.url}/v1/logs`, { headers: key.headers })).status).toBe(200)
  expect(nicenessOf(server.pid)).toContain(10)
  expect(getPriority(server.pid)).toBe(getPriority())
})
