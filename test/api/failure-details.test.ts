import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../support/app.ts'
import { detach, replay } from '../support/detached.ts'
import { postSse } from '../support/sse.ts'
import { startTeam } from '../support/team.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const KEY = 'correcthorsebattery'
let platform: Upstream
let own: Upstream
let app: TestApp
let operator: Record<string, string>

beforeAll(async () => {
  platform = await startUpstream()
  own = await startUpstream()
  app = await startApp({
    upstream: platform.baseUrl,
    env: { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' },
  })
  operator = (await app.operator()).headers
})
afterEach(() => {
  platform.reset()
  own.reset()
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await platform.stop()
  await own.stop()
})

/** The error of a turn at the console. */
async function failed(headers: Record<string, string>, text = 'hello', path = '/console/agent') {
  const stream = await postSse(`${app.url}${path}`, { headers, body: { text, session_id: 'a' } })
  const end = (await stream.all()).at(-1)
  expect(end?.event).toBe('error')
  return end?.data as Record<string, unknown>
}

const sentence = (message: string) => JSON.stringify({ error: { message } })

/** A team that has its own channel. */
async function withChannel() {
  const team = await startTeam(app)
  const body = { base_url: own.baseUrl, api_key: KEY, failover: false }
  const saved = await team.call('PUT', '/console/provider', body)
  expect([saved.status, saved.text]).toEqual([200, saved.text])
  return team
}

describe('why a turn failed', () => {
  test('is told with the provider’s words to those who can mend the own channel', async () => {
    const team = await withChannel()
    const viewer = await team.join('viewer')
    const editor = await team.join('editor')
    const quota = { body: sentence('You exceeded your current quota, see the plan.') }
    own.chat.alwaysFault(402, quota)
    for (const { headers } of [team, editor]) {
      expect(await failed(headers)).toMatchObject({
        class: 'bad_request',
        status: 402,
        detail: 'You exceeded your current quota, see the plan.',
      })
    }
    for (const headers of [viewer.headers]) {
      const seen = await failed(headers)
      expect(seen).toMatchObject({ class: 'bad_request', status: 402 })
      expect(seen).not.toHaveProperty('detail')
    }
    const { headers } = await app.key(team.email)
    const machine = await failed(headers, 'hello', '/v1/agent')
    for (const field of ['class', 'status', 'detail']) expect(machine).not.toHaveProperty(field)
  })

  test('of the platform’s channel is told to the operator alone', async () => {
    platform.chat.alwaysFault(401, { body: sentence('Incorrect API key') })
    expect(await failed(operator)).toMatchObject({
      class: 'unauthorized',
      status: 401,
      detail: 'Incorrect API key',
    })
    const { headers } = await startTeam(app)
    const seen = await failed(headers)
    expect(seen).toMatchObject({ class: 'unauthorized', status: 401 })
    expect(seen).not.toHaveProperty('detail')
  })

  test('is a word and no status where nothing answered', async () => {
    platform.chat.alwaysFault('reset')
    expect(await failed(operator)).toMatchObject({ class: 'unavailable', status: null })
  })

  test('holds neither credentials nor words of the question', async () => {
    const team = await withChannel()
    const said =
      `Refused: «purple elephants» by ${KEY}, sk-abc12345, sk-a***z9, ` +
      'https://user:pw@host/x, Bearer abc, me@example.com, 我的密码是什么呢。'
    own.chat.alwaysFault(400, { body: sentence(said) })
    const { detail } = await failed(team.headers, 'Where do purple elephants live? 密码是海')
    for (const word of ['purple', 'elephants', KEY, 'abc1', 'a***z9', 'pw', 'abc', 'me@', '密码']) {
      expect(detail).not.toContain(word)
    }
    expect(detail).toContain('Refused')
    own.chat.alwaysFault(500, { body: sentence('a b '.repeat(400)) })
    expect([...String((await failed(team.headers, 'x')).detail)].length).toBeLessThanOrEqual(300)
    own.chat.alwaysFault(500, { body: '<html>Bad gateway</html>' })
    expect(await failed(team.headers, 'x')).not.toHaveProperty('detail')
  })

  test('is in no event that is kept, in no log, and comes in a stream’s own error', async () => {
    const team = await withChannel()
    own.chat.alwaysFault(400, { body: sentence('the flux capacitor is empty') })
    const stream = await detach(app.url, team.headers, { text: 'hello', session_id: 'd' })
    const events = await stream.all()
    const [first, last] = [events[0], events.at(-1)]
    expect(last?.data).toMatchObject({ status: 400, detail: 'the flux capacitor is empty' })
    await replay(app.url, team.headers, String(first?.data.turn_id)).then((again) => again.all())
    const kept = await app.db.all<{ events: string }>({
      sql: 'SELECT events FROM talk_event WHERE turn_id = ?',
      args: [String(first?.data.turn_id)],
    })
    const text = kept.map(({ events: one }) => one).join('')
    expect(text).toContain('"class":"bad_request"')
    expect(text).not.toContain('flux')
    expect(app.log()).not.toContain('flux')
    own.reset()
    own.fault('error')
    expect(await failed(team.headers)).toMatchObject({ class: 'upstream', status: null })
  })
})
