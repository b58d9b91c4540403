import { expect, spyOn, test } from 'bun:test'
import { getPriority } from 'node:os'
import type { JsonItems } from '../../src/core/json.ts'
import { caller } from '../support/api.ts'
import { startApp } from '../support/app.ts'
import { createKey } from '../support/key.ts'
import { nicenessOf } from '../support/niceness.ts'
import { startServer } from '../support/server.ts'
import { tempFolder } from '../support/temp.ts'

/** What one tenant looks at takes little from the turns and answers of others. */

test.each(['logs', 'feedback'])('%s are read at a lower priority than turns', async (list) => {
  using folder = tempFolder()
  const key = await createKey(folder.path)
  await using server = await startServer({ dataDir: folder.path })
  expect(nicenessOf(server.pid)).not.toContain(10)
  expect((await fetch(`${server.url}/v1/${list}`, { headers: key.headers })).status).toBe(200)
  expect(nicenessOf(server.pid)).toContain(10)
  expect(getPriority(server.pid)).toBe(getPriority())
})

test('documents that wait to be read keep no other answer back', async () => {
  await using app = await startApp()
  const [slow, other] = [await app.key('slow@example.com'), await app.key('other@example.com')]
  const reading = Promise.withResolvers<{ docs: JsonItems[] }>()
  const read = Promise.withResolvers<void>()
  using _ = spyOn(app.kb.service, 'list').mockImplementation(() => {
    read.resolve()
    return reading.promise
  })
  const list = caller(app.url, slow.headers)('GET', '/v1/kb/docs')
  await read.promise
  const history = await caller(app.url, other.headers)('GET', '/v1/sessions/s/history')
  expect(history.status).toBe(200)
  reading.resolve({ docs: [] })
  expect((await list).json()).toEqual({ docs: [] })
})
