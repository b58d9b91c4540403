import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { ConversationListResponse } from '../../src/features/sessions/model.ts'
import type { Call } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { filesClient } from '../support/chat-files.ts'
import { fakeClock } from '../support/clock.ts'
import { postSse } from '../support/sse.ts'
import { startTeam } from '../support/team.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const clock = fakeClock()
let upstream: Upstream
let app: TestApp

beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl, clock })
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const titles = async (call: Call, query = '') => {
  const answer = await call<ConversationListResponse>('GET', `/console/conversations${query}`)
  return answer.json().conversations.map(({ title }) => title)
}

async function say(
  headers: Record<string, string>,
  text: string,
  more: object = {},
  { url }: { readonly url: string } = app,
) {
  const body = { text, session_id: 'talk', ...more }
  const stream = await postSse(`${url}/console/agent`, { headers, body })
  return (await stream.all()).at(-1)
}

/** Until the jobs of the server are done, one of which names the talk. */
const settled = () => app.jobs.idle()

describe('the title of a talk', () => {
  test('is given once, by the channel and model of the turn, without tools', async () => {
    const { call, headers } = await startTeam(app)
    upstream.titles.reply({ text: '\n# "Packing for\nthe sea"' })
    await call('PUT', '/console/settings', { model: 'house', thinking: true })
    await say(headers, '  What shall I pack? ')
    await settled()
    const { body } = await upstream.named.next()
    expect(body).toMatchObject({ model: 'house', max_tokens: 30 })
    expect(body.tools).toBeUndefined()
    expect(JSON.stringify(body.messages)).toContain('What shall I pack?')
    expect(JSON.stringify(body.messages)).toContain('好的')
    expect(await titles(call)).toEqual(['Packing for'])
    expect(await titles(call, '?q=packing')).toEqual(['Packing for'])
    await say(headers, 'And for the hills?')
    await settled()
    expect(upstream.named.requests).toHaveLength(1)
  })

  test('is the first words without a model’s title, and never longer than 40', async () => {
    const { call, headers } = await startTeam(app)
    upstream.titles.fault(400)
    const images = ['data:image/png;base64,iVBORw0KGgo=']
    await say(headers, 'Look at this', { images })
    await settled()
    expect(await titles(call)).toEqual(['Look at this'])
    upstream.titles.reply({ text: '长'.repeat(60) })
    await say(headers, 'one', { session_id: 'other' })
    await settled()
    expect((await titles(call)).toSorted()[1]).toBe('长'.repeat(40))
  })

  test('has no names of the files that came with the first words', async () => {
    const { call, headers } = await startTeam(app)
    upstream.titles.fault(400)
    const { id } = await filesClient(() => app.url).ingest(headers, 'It snows.', 'snow.txt')
    await say(headers, 'Sum it up', { files: [id] })
    await settled()
    expect(await titles(call)).toEqual(['Sum it up'])
  })

  test('given by hand wins over one that a model is about to give', async () => {
    const { call, headers } = await startTeam(app)
    const hold = Promise.withResolvers<void>()
    upstream.titles.reply({ text: 'by the model', hold: { after: 0, until: hold.promise } })
    await say(headers, 'one')
    await upstream.named.next()
    await call('PUT', '/console/conversations/talk', { title: 'by hand' })
    hold.resolve()
    await settled()
    expect(await titles(call)).toEqual(['by hand'])
    expect(await titles(call, '?q=model')).toEqual([])
    await call('PUT', '/console/conversations/talk', { title: '' })
    expect(await titles(call)).toEqual(['one'])
  })

  test('is given up after ten seconds, and its call ends', async () => {
    const moved = fakeClock({ timers: 'moved' })
    await using other = await startApp({ upstream: upstream.baseUrl, clock: moved })
    const { call, headers } = await startTeam(other)
    upstream.titles.reply({ text: 'late', hold: { after: 0, until: new Promise(() => {}) } })
    await say(headers, 'one', {}, other)
    await upstream.named.next()
    moved.advance(10_000)
    await upstream.named.aborted()
    await other.jobs.idle()
    expect(await titles(call)).toEqual(['one'])
  })

  test('ends with its talk, and names no other of that id', async () => {
    const owner = await startTeam(app)
    const editor = await owner.join('editor')
    const hold = Promise.withResolvers<void>()
    upstream.titles.reply({ text: 'secret', hold: { after: 0, until: hold.promise } })
    await say(owner.headers, 'one')
    await upstream.named.next()
    await owner.call('DELETE', '/console/sessions/talk')
    await upstream.named.aborted()
    await say(editor.headers, 'two')
    hold.resolve()
    await settled()
    expect(await titles(editor.call)).toEqual(['two'])
  })

  test('is not asked for when switched off, which an export carries', async () => {
    const { call, headers } = await startTeam(app)
    expect((await call<object>('GET', '/console/settings')).json()).toMatchObject({ titles: true })
    const saved = await call<object>('PUT', '/console/settings', { titles: false })
    expect(saved.json()).toMatchObject({ titles: false })
    expect((await call('PUT', '/console/settings', { titles: 'no' })).status).toBe(400)
    await say(headers, 'one')
    await settled()
    expect(upstream.named.requests).toEqual([])
    const carried = (await call<{ settings: object }>('GET', '/console/export')).json()
    expect(carried.settings).toMatchObject({ titles: false })
    const other = await startTeam(app)
    expect((await other.call('POST', '/console/import', { config: carried })).status).toBe(200)
    expect((await other.call<object>('GET', '/console/settings')).json()).toMatchObject({
      titles: false,
    })
  })

  test('counts its tokens as the person’s, and a session of a key gets none', async () => {
    const { call, headers, email } = await startTeam(app)
    upstream.titles.reply({ text: 'Title', usage: { input: 70, output: 7 } })
    upstream.reply({ text: 'yes', usage: { input: 100, output: 10 } })
    await say(headers, 'one')
    await settled()
    type Usage = { tokens: { today: { input: number; output: number } } }
    const usage = (await call<Usage>('GET', '/console/usage')).json()
    expect(usage.tokens.today).toEqual({ input: 170, output: 17 })
    const stream = await postSse(`${app.url}/v1/agent`, {
      headers: (await app.key(email)).headers,
      body: { text: 'one', session_id: 'mine' },
    })
    await stream.all()
    const anonymous = await postSse(`${app.url}/console/agent`, { headers, body: { text: 'one' } })
    await anonymous.all()
    await settled()
    expect(upstream.named.requests).toHaveLength(1)
  })

  test('ends with the rights of its person', async () => {
    const owner = await startTeam(app)
    const editor = await owner.join('editor')
    upstream.titles.reply({ text: 'late', hold: { after: 0, until: new Promise(() => {}) } })
    await say(editor.headers, 'one')
    await upstream.named.next()
    await owner.call('DELETE', `/console/members/${editor.id}`)
    await upstream.named.aborted()
  })
})
