import { expect, test } from 'bun:test'
import { systemClock } from '../../src/core/clock.ts'
import { createLogger } from '../../src/core/log.ts'
import { openPostgres } from '../../src/storage/postgres/db.ts'
import { openSharedState } from '../../src/storage/postgres/shared-state.ts'
import { caller } from '../support/api.ts'
import { startApp } from '../support/app.ts'
import { postgresSettings, startPostgres } from '../support/postgres.ts'
import { askPostgres } from '../support/postgres-client.ts'
import { tempFolder } from '../support/temp.ts'

test('a changed setting reaches the other server also when its announcement is lost', async () => {
  using folder = tempFolder()
  const settings = await postgresSettings(folder.path)
  const env = { ...settings, MB_DATA_DIR: folder.path }
  const clock = systemClock()
  const hurried = { ...clock, every: (ms: number, run: () => void) => clock.every(ms / 100, run) }
  await using one = await startApp({ env })
  await using other = await startApp({ env, clock: hurried })
  const { headers } = await one.operator()
  await askPostgres(
    settings.MB_DATABASE_URL,
    'CREATE RULE lost AS ON INSERT TO announcement DO INSTEAD NOTHING',
  )
  const put = await caller(`${one.url}/console`, headers)('PUT', '/system', { MB_SIGNUP: 'closed' })
  expect(put.status).toBe(200)
  const shown = async () => {
    const answer = await fetch(`${other.url}/console/system`, { headers })
    const { settings } = (await answer.json()) as { settings: { name: string; value: string }[] }
    return settings.find(({ name }) => name === 'MB_SIGNUP')?.value
  }
  while ((await shown()) !== 'closed') await Bun.sleep(20)
})

test('an announcement whose hearer fails is heard again until it succeeds', async () => {
  await using server = await startPostgres('all')
  const clock = systemClock()
  const lines: string[] = []
  const write = (line: string) => void lines.push(line)
  const log = createLogger({ level: 'info', json: true, now: () => new Date(), write })
  const db = openPostgres({ url: server.url, clock })
  const open = () => openSharedState({ db, clock, log, directUrl: null })
  const [a, b] = [await open(), await open()]
  const heard: string[] = []
  const done = Promise.withResolvers<void>()
  b.announcer.on('settings', async (subject) => {
    heard.push(subject)
    if (heard.length < 3) throw new Error('the database was away for a moment')
    done.resolve()
  })
  await a.announcer.announce('settings', 'changed')
  await done.promise
  // A later one that is heard shows that the first one is heard no more.
  const last = Promise.withResolvers<void>()
  b.announcer.on('revoked', async () => last.resolve())
  await a.announcer.announce('revoked', 'someone')
  await last.promise
  expect(heard).toEqual(['changed', 'changed', 'changed'])
  expect(lines.filter((line) => line.includes('announcement not acted on'))).toHaveLength(1)
  await Promise.all([a.close(), b.close()])
  await db.close()
})
