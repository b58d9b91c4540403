import { expect, test } from 'bun:test'
import { DAY_MS, MINUTE_MS } from '../../src/core/clock.ts'
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
