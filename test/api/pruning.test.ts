import { expect, test } from 'bun:test'
import { DAY_MS, MINUTE_MS } from '../../src/core/clock.ts'
import { createLinks } from '../../src/features/login/link-store.ts'
import { createRemoval } from '../../src/features/tenants/removal.ts'
import { createRemovalStore } from '../../src/features/tenants/removal-store.ts'
import { sql } from '../../src/storage/db.ts'
import { caller } from '../support/api.ts'
import { startApp } from '../support/app.ts'
import { filesClient } from '../support/chat-files.ts'
import { fakeClock } from '../support/clock.ts'
import { user } from '../support/completions.ts'
import { responseTenant } from '../support/open-responses.ts'

test('a clock that is wrong for a moment takes no file, item or sentence for good', async () => {
  const clock = fakeClock()
  await using app = await startApp({ clock })
  const chat = await responseTenant(app)
  const files = filesClient(() => app.url)
  const file = await files.ingest(chat.headers, 'Tea at five.')
  const [item] = (await chat.whole({ input: 'hi' })).output
  const owner = caller(`${app.url}/v1`, chat.headers)
  const made = await owner<{ id: string; activation_code: string }>('POST', '/devices', {
    name: 'Lamp',
  })
  const { id, activation_code: code } = made.json()
  const { key } = (await owner<{ key: string }>('POST', '/devices/activate', { code })).json()
  expect((await owner('POST', `/devices/${id}/say`, { text: 'Tea' })).status).toBeWithin(200, 300)
  const input = [user('hi'), { type: 'item_reference', id: item?.id }, user('again')]

  const wrongMs = 40 * DAY_MS
  clock.advance(60 * MINUTE_MS)
  await app.prune()
  clock.set(wrongMs)
  await app.prune()
  clock.advance(29 * MINUTE_MS)
  await app.prune()
  clock.set(-wrongMs)
  await app.prune()

  expect((await files.get(chat.headers, file.id)).state).toBe('ready')
  expect((await chat.send({ input })).status).toBe(200)
  const device = caller(`${app.url}/v1`, { authorization: `Bearer ${key}` })
  const beat = await device<{ notices: object[] }>('POST', '/devices/heartbeat')
  expect(beat.json().notices).toMatchObject([{ text: 'Tea' }])
})

test('nor a count, a link, a reminder that was given, or a tenant without a member', async () => {
  const clock = fakeClock({ start: Date.now() })
  await using app = await startApp({ clock })
  const mail = 'kept@example.com'
  const { headers, tenantId } = await app.key(mail)
  const call = caller(`${app.url}/v1`, headers)
  await call('POST', '/kb/docs', { title: 'Tea', text: 'Tea at five.' })
  const day = Math.floor(clock.now() / DAY_MS)
  await app.db.run(sql`
    INSERT INTO kb_citation (doc_num, day, count) SELECT num, ${day}, 7 FROM kb_doc`)
  await app.db.run(sql`
    INSERT INTO schedule (id, tenant_id, name, kind, time_zone, text, thinks, session, subject,
      webhook_ids, max_model_calls, approved_tools, enabled, failures, created_at)
    VALUES ('given', ${tenantId}, 'n', 'reminder', 'UTC', 'x', 0, 'new', 'ann', '[]', 8, '[]', 1, 0,
      ${clock.iso()})`)
  const user = await app.db.get<{ id: string }>(sql`SELECT id FROM "user" WHERE email = ${mail}`)
  const links = createLinks(app.db, clock)
  await app.db.run(sql`
    INSERT INTO tenant (id, created_at, gone_at) VALUES ('gone', ${clock.iso()}, ${clock.now()})`)
  const counted = async () => {
    const { docs } = (await call<{ docs: { cited_7d: number }[] }>('GET', '/kb/docs')).json()
    const { schedules } = (await call<{ schedules: object[] }>('GET', '/schedules')).json()
    const gone = await app.db.get<{ n: number }>(sql`
      SELECT count(*) AS n FROM tenant WHERE id = 'gone'`)
    return [docs[0]?.cited_7d, schedules.length, gone?.n]
  }

  clock.advance(60 * MINUTE_MS)
  await app.prune()
  const token = await links.make(user?.id ?? '')
  clock.set(40 * DAY_MS)
  await app.prune()
  expect(await links.take(token)).toBeNull()
  await links.make(user?.id ?? '')
  clock.set(-40 * DAY_MS)
  await app.prune()
  expect(await counted()).toEqual([7, 1, 1])
  expect(await links.take(token)).toBe(mail)
  expect(await links.take(token)).toBeNull()

  clock.advance(2 * DAY_MS)
  await app.prune()
  expect(await counted()).toEqual([7, 0, 0])
  expect(
    await app.db.all(sql`SELECT hash FROM signin_link WHERE expires_at < ${clock.now()}`),
  ).toEqual([])
  clock.advance(90 * DAY_MS)
  await app.prune()
  expect(await app.db.all(sql`SELECT count FROM kb_citation`)).toEqual([])
})

test('a tenant stays while a file of it could not be removed', async () => {
  const clock = fakeClock({ start: Date.now() })
  await using app = await startApp({ clock })
  await app.db.batch([
    sql`INSERT INTO tenant (id, created_at, gone_at) VALUES ('held', ${clock.iso()}, 0)`,
    sql`INSERT INTO kb_source (id, tenant_id, kind, title, is_named, file_name, media_type, bytes,
        state, created_at)
      VALUES ('f', 'held', 'file', 't', 1, 'f.txt', 'text/plain', 1, 'ready', ${clock.iso()})`,
  ])
  const store = createRemovalStore(app.db)
  const sweep = async () => {}
  const left = () => app.db.all(sql`SELECT id FROM tenant WHERE id = 'held'`)
  const removeSource = () => Promise.reject(new Error('the disk is full'))
  const failing = createRemoval({ store, clock, removeSource, sweep })
  await failing.run()
  await failing.prune()
  expect(await left()).toHaveLength(1)
  await app.db.run(sql`DELETE FROM kb_source WHERE id = 'f'`)
  await failing.prune()
  expect(await left()).toEqual([])
})
