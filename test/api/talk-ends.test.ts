import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { systemClock } from '../../src/core/clock.ts'
import { TURN_MS_MAX } from '../../src/core/limits/machine.ts'
import type { ConversationListResponse } from '../../src/features/sessions/model.ts'
import { caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { detach } from '../support/detached.ts'
import { startShare, visitor } from '../support/shares.ts'
import { startTeam } from '../support/team.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const limits: (() => void)[] = []
const timers = systemClock()
const clock = {
  ...timers,
  after(ms: number, task: () => void) {
    if (ms === TURN_MS_MAX) limits.push(task)
    return timers.after(ms, task)
  },
}
let upstream: Upstream
let app: TestApp
let operator: ReturnType<typeof caller>

beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl, clock, env: { MB_TRUST_PROXY: '1' } })
  operator = caller(`${app.url}/console`, (await app.operator()).headers)
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const PNG = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ'

/** A turn of which the model has written one word, and waits. */
async function waiting(headers: Record<string, string>) {
  upstream.reply({ pieces: ['一', '二'], hold: { after: 1, until: new Promise(() => {}) } })
  const stream = await detach(app.url, headers, { text: '问', session_id: 'a', images: [PNG] })
  await stream.until(({ type }) => type === 'llm_delta')
  return stream
}

async function personId(email: string): Promise<string> {
  const { people } = (
    await operator<{ people: { id: string; email: string }[] }>('GET', '/system/people')
  ).json()
  return people.find((one) => one.email === email)?.id ?? ''
}

const rowsOf = async (table: 'session' | 'picture', tenantId: string) =>
  (await app.db.all({ sql: `SELECT id FROM ${table} WHERE tenant_id = ?`, args: [tenantId] }))
    .length

test('conversations of a web site are listed as such, for editors alone', async () => {
  const owner = await startShare(app)
  const viewer = await owner.join('viewer')
  const session_id = `share-${'a'.repeat(32)}`
  const asked = await visitor(app, '203.0.113.9')(owner.share.token, { text: 'hi', session_id })
  expect((await asked.all()).at(-1)?.event).toBe('llm_end')
  const listed = async (of: string) =>
    (await owner.call<ConversationListResponse>('GET', `/console/conversations?of=${of}`))
      .json()
      .conversations.map(({ title }) => title)
  expect(await listed('website')).toEqual(['hi'])
  expect([await listed('mine'), await listed('devices'), await listed('api')]).toEqual([[], [], []])
  expect((await viewer.call('GET', '/console/conversations?of=website')).status).toBe(403)
  await app.jobs.idle()
  expect(upstream.named.requests).toEqual([])
})

test('a detached turn ends after thirty minutes', async () => {
  const { headers } = await startTeam(app)
  const stream = await waiting(headers)
  for (const pass of limits.splice(0)) pass()
  expect((await stream.all()).at(-1)).toMatchObject({
    type: 'error',
    data: { code: 'turn_too_long' },
  })
  await upstream.aborted(1)
})

test('disabling a person ends the call of the model', async () => {
  const { email, headers } = await startTeam(app)
  const stream = await waiting(headers)
  const answer = await operator('PUT', `/system/people/${await personId(email)}`, {
    disabled: true,
  })
  expect(answer.status).toBe(200)
  expect((await stream.all()).at(-1)).toMatchObject({ data: { code: 'not_signed_in' } })
  await upstream.aborted(1)
})

test('deleting an account ends the call, and takes talks and pictures along', async () => {
  const owner = await startTeam(app)
  const editor = await owner.join('editor')
  const done = await detach(app.url, editor.headers, {
    ...{ text: 'see', session_id: 'b', images: [PNG] },
  })
  await done.all()
  const stream = await waiting(editor.headers)
  expect(await rowsOf('session', owner.tenantId)).toBe(2)
  expect(await rowsOf('picture', owner.tenantId)).toBe(2)
  const { members } = (
    await owner.call<{ members: { id: string; email: string }[] }>('GET', '/console/members')
  ).json()
  const { email = '' } = members.find(({ id }) => id === editor.id) ?? {}
  const answer = await operator('DELETE', `/system/people/${await personId(email)}`)
  expect([answer.status, answer.text]).toEqual([200, answer.text])
  expect((await stream.all()).at(-1)?.type).toBe('error')
  await upstream.aborted(1)
  expect(await rowsOf('session', owner.tenantId)).toBe(0)
  expect(await rowsOf('picture', owner.tenantId)).toBe(0)
})
