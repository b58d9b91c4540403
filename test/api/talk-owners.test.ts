import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ConversationListResponse } from '../../src/features/sessions/model.ts'
import { type Call, caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { postSse } from '../support/sse.ts'
import { startTeam } from '../support/team.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp

beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

/** One turn; resolves with the status, and with the last event of a stream. */
async function say(headers: Record<string, string>, session_id: string, surface = '/console') {
  const body = { text: `机密 ${session_id}`, session_id }
  const stream = await postSse(`${app.url}${surface}/agent`, { headers, body })
  return stream.status === 200 ? (await stream.all()).at(-1)?.event : stream.status
}

const listed = async (call: Call, query = '') =>
  (await call<ConversationListResponse>('GET', `/console/conversations${query}`))
    .json()
    .conversations.map(({ id }) => id)

/** What the console answers about a session, with everything that names it taken out. */
async function answersAbout(call: Call, id: string) {
  const at = encodeURIComponent(id)
  const routes = [
    ['GET', `/sessions/${at}/history`],
    ['GET', `/sessions/${at}/transcript`],
    ['PUT', `/conversations/${at}`, { title: 'stolen' }],
    ['DELETE', `/sessions/${at}`],
  ] as const
  const answers: unknown[] = []
  for (const [method, path, body] of routes) {
    const { status, text } = await call(method, `/console${path}`, body)
    answers.push([status, text.replaceAll(id, 'ID')])
  }
  return answers
}

describe('a talk of a person', () => {
  test.each(['editor', 'viewer'] as const)('does not exist for an %s', async (role) => {
    const owner = await startTeam(app)
    const other = await owner.join(role)
    expect(await say(owner.headers, 'mine')).toBe('llm_end')
    const used = await answersAbout(other.call, 'mine')
    expect(used).toEqual(await answersAbout(other.call, 'never'))
    expect(await listed(other.call)).toEqual([])
    expect(await listed(other.call, '?q=机密')).toEqual([])
    expect((await other.call('GET', '/console/sessions')).json()).toEqual({ sessions: [] })
    expect(await say(other.headers, 'mine')).toBe(404)
    expect(await listed(owner.call)).toEqual(['mine'])
    const { count } = (
      await owner.call<{ count: number }>('GET', '/console/sessions/mine/history')
    ).json()
    expect(count).toBe(2)
  })

  test('of an editor does not exist for the owner', async () => {
    const owner = await startTeam(app)
    const editor = await owner.join('editor')
    await say(editor.headers, 'theirs')
    expect(await answersAbout(owner.call, 'theirs')).toEqual(
      await answersAbout(owner.call, 'never'),
    )
    expect(await listed(editor.call, '?of=mine')).toEqual(['theirs'])
  })

  test('exists for a general key, which leaves it the person’s, and for no other key', async () => {
    const owner = await startTeam(app)
    await say(owner.headers, 'mine')
    const general = await app.key(owner.email)
    const { id: appId } = (
      await owner.call<{ id: string }>('POST', '/console/apps', { name: 'a' })
    ).json()
    const ofApp = await app.key(owner.email, { appId })
    const ofDevice = await app.key(owner.email, { deviceId: crypto.randomUUID() })
    for (const { headers } of [ofApp, ofDevice]) {
      expect(await say(headers, 'mine', '/v1')).toBe(404)
      const history = await caller(app.url, headers)('GET', '/v1/sessions/mine/history')
      expect(history.json()).toEqual({ messages: [], summary: '', count: 0 })
    }
    expect(await say(general.headers, 'mine', '/v1')).toBe('llm_end')
    const machine = caller(app.url, general.headers)
    expect((await machine('GET', '/v1/sessions/mine/history')).json()).toMatchObject({ count: 4 })
    expect(await listed(owner.call, '?of=mine')).toEqual(['mine'])
  })

  test('a name belongs to the first of two who begin it at once, and is free again', async () => {
    const owner = await startTeam(app)
    const editor = await owner.join('editor')
    const ends = await Promise.all([say(owner.headers, 'race'), say(editor.headers, 'race')])
    expect(ends.filter((end) => end === 'llm_end')).toHaveLength(1)
    const winner = ends[0] === 'llm_end' ? owner : editor
    const loser = winner === owner ? editor : owner
    const history = '/console/sessions/race/history'
    expect((await winner.call('GET', history)).json()).toMatchObject({ count: 2 })
    expect((await loser.call('GET', history)).json()).toMatchObject({ count: 0 })
    await winner.call('DELETE', '/console/sessions/race')
    expect(await say(loser.headers, 'race')).toBe('llm_end')
  })
})

describe('sessions without a person', () => {
  test('are listed by kind for owner and editor, and not for viewers', async () => {
    const owner = await startTeam(app)
    const editor = await owner.join('editor')
    const viewer = await owner.join('viewer')
    const general = await app.key(owner.email)
    const deviceId = crypto.randomUUID()
    const device = await app.key(owner.email, { deviceId })
    await say(general.headers, 'by-key', '/v1')
    await say(device.headers, 'by-device', '/v1')
    await say(owner.headers, 'mine')
    await owner.call('POST', '/console/agent', { text: 'nobody’s' })
    expect(await listed(editor.call, '?of=api')).toEqual(['anon', 'by-key'])
    expect(await listed(editor.call, '?of=devices')).toEqual(['by-device'])
    expect(await listed(editor.call, `?device_id=${deviceId}`)).toEqual(['by-device'])
    expect(await listed(editor.call, `?app_id=${deviceId}`)).toEqual([])
    expect(await listed(editor.call, '?of=website')).toEqual([])
    expect(await listed(editor.call, '?of=mine')).toEqual([])
    expect(await listed(editor.call)).toEqual(['anon', 'by-device', 'by-key'])
    expect(await listed(viewer.call)).toEqual([])
    expect(await listed(viewer.call, '?of=mine')).toEqual([])
    for (const of of ['website', 'devices', 'api']) {
      const refused = await viewer.call('GET', `/console/conversations?of=${of}`)
      expect([of, refused.status]).toEqual([of, 403])
    }
    expect((await editor.call('GET', '/console/conversations?of=all')).status).toBe(400)
    expect(await say(viewer.headers, 'by-key')).toBe(404)
    // One that a person continues stays what it was.
    expect(await say(editor.headers, 'by-key')).toBe('llm_end')
    expect(await listed(owner.call, '?of=api')).toContain('by-key')
    await editor.call('DELETE', '/console/sessions/by-key')
    expect(await listed(owner.call, '?of=api')).toEqual(['anon'])
  })
})

describe('talks of a removed member', () => {
  test('are seen by nobody, and are there again when the person comes back', async () => {
    const owner = await startTeam(app)
    const editor = await owner.join('editor')
    await say(editor.headers, 'theirs')
    await owner.call('DELETE', `/console/members/${editor.id}`)
    expect(await listed(owner.call)).toEqual([])
    const { id } = await owner.invite(editor.email, 'viewer')
    await editor.call('POST', `/auth/invitations/${id}/accept`)
    await editor.call('POST', '/auth/tenant', { tenant_id: owner.tenantId })
    expect(await listed(editor.call)).toEqual(['theirs'])
  })

  test('go with talks=delete, unread, and their names are free', async () => {
    const owner = await startTeam(app)
    const editor = await owner.join('editor')
    await say(editor.headers, 'theirs')
    const kept = await owner.join('editor')
    await say(kept.headers, 'kept')
    const removed = await owner.call('DELETE', `/console/members/${editor.id}?talks=delete`)
    expect(removed.status).toBe(200)
    expect(await say(owner.headers, 'theirs')).toBe('llm_end')
    const history = await owner.call('GET', '/console/sessions/theirs/history')
    expect(history.json()).toMatchObject({ count: 2 })
    expect(await listed(kept.call)).toEqual(['kept'])
  })
})
