import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../support/app.ts'
import { appOf, askedOf, type Memory, memoryClient } from '../support/memories.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
let tenants = 0
beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl })
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const email = () => `rights${++tenants}@example.com`
const general = async (mail: string) => memoryClient(`${app.url}/v1`, (await app.key(mail)).headers)
const person = async (mail: string) =>
  memoryClient(`${app.url}/console`, (await app.person(mail)).headers)
/** A tenant with an app that remembers, and clients of it. */
async function tenantWith(memory: string, more: object = {}) {
  const mail = email()
  const made = await appOf(app, mail, { memory, ...more })
  const key = memoryClient(`${app.url}/v1`, made.headers)
  return { mail, appId: made.id, key, all: await general(mail), owner: await person(mail) }
}
const codeOf = ({ status, headers }: { status: number; headers: Headers }) =>
  [status, headers.get('x-error-code')] as const

describe('memories of a person', () => {
  test('are theirs alone: no key, no owner and no other person reads them', async () => {
    const { owner, all, key, mail, appId } = await tenantWith('app')
    const mine = await owner.tell({ text: 'Secretly likes opera', app_id: appId })
    expect(mine).toMatchObject({ source: 'person', app_id: appId })
    expect((await owner.list()).map(({ id }) => id)).toEqual([mine.id])
    await owner.ask({ text: 'hi', app_id: appId, subject: 'ann' })
    expect(askedOf(upstream).system).toContain('opera')
    const { subject } = mine
    const other = email()
    await owner.call('POST', '/members', { email: other, role: 'owner' })
    for (const client of [all, key]) {
      expect((await client.call('GET', `/memories?subject=${subject}`)).status).toBe(404)
      expect((await client.call('PUT', `/memories/${mine.id}`, { text: 'x' })).status).toBe(404)
      expect((await client.call('DELETE', `/memories/${mine.id}`)).status).toBe(404)
      expect((await client.call('DELETE', `/memories?subject=${subject}`)).status).toBe(404)
      expect((await client.call('GET', '/memories?subject=user:nobody')).status).toBe(404)
    }
    expect((await all.call('GET', '/memories')).status).toBe(400)
    const subjects = (await all.call<{ subjects: object[] }>('GET', '/memories/subjects')).json()
    expect(subjects.subjects).toMatchObject([{ subject: 'user:*', count: 1 }])
    // In other letters it is a name that callers are free to choose.
    await all.tell({ subject: 'User:ann', text: 'sings' })
    const named = (await all.call<{ subjects: object[] }>('GET', '/memories/subjects')).json()
    expect(named.subjects).toMatchObject([{ subject: 'User:ann' }, { subject: 'user:*', count: 1 }])
    expect((await key.call('GET', '/memories/subjects')).status).toBe(403)
    const stranger = await person(email())
    expect((await stranger.call('GET', `/memories?subject=${subject}`)).status).toBe(404)
    expect((await stranger.call('DELETE', `/memories/${mine.id}`)).status).toBe(404)

    const audit = async () => (await owner.call('GET', '/audit')).text
    await owner.call('DELETE', `/memories?subject=${subject}`)
    expect(await owner.list()).toEqual([])
    expect(await audit()).not.toContain('memory.delete')
    const { id } = await all.tell({ subject: 'ann', text: 'Has a kite' })
    await owner.call('DELETE', `/memories/${id}`)
    expect(await audit()).toContain('memory.delete')
    expect(await audit()).not.toContain('kite')
    expect(app.log()).not.toContain('opera')
    expect(mail).not.toBe(other)
  })

  test('are suggested from their own talk, and nothing is stored', async () => {
    const { owner, all } = await tenantWith('app')
    await owner.ask({ text: 'I am a baker', session_id: 'talk' })
    upstream.reply({ text: '- Is a baker\n- Is a baker\n2. Gets up early\n' })
    const answer = await owner.call<{ suggestions: string[] }>('POST', '/memories/suggest', {
      session_id: 'talk',
    })
    expect(answer.json()).toEqual({ suggestions: ['Is a baker', 'Gets up early'] })
    expect(await owner.list()).toEqual([])
    const foreign = await owner.call('POST', '/memories/suggest', { session_id: 'none' })
    expect(foreign.status).toBe(404)
    expect((await all.call('POST', '/memories/suggest', { session_id: 'talk' })).status).toBe(405)
  })
})

describe('a fact', () => {
  test('is told once, replaced as a whole, and found by meaning', async () => {
    const { all } = await tenantWith('app')
    const body = { subject: 'ann', text: ' Drinks Coffee ' }
    const made = await all.call<Memory>('POST', '/memories', { ...body, pinned: true })
    expect([made.status, made.json().source]).toEqual([201, 'api'])
    const again = await all.call<Memory>('POST', '/memories', { ...body, text: 'drinks coffee' })
    expect([again.status, again.json().id, again.json().pinned]).toEqual([
      200,
      made.json().id,
      true,
    ])
    const { id } = made.json()
    const put = await all.call<Memory>('PUT', `/memories/${id}`, { text: 'Drinks cocoa' })
    expect(put.json()).toMatchObject({ id, text: 'Drinks cocoa', pinned: false })
    await all.tell({ subject: 'ann', text: 'Rides a horse named Bella' })
    const found = await all.list('?subject=ann&q=hot drink')
    expect(found.map(({ text }) => text)).toEqual(['Drinks cocoa', 'Rides a horse named Bella'])
    for (const wrong of ['', 'x'.repeat(301), 'a\nb', 7]) {
      const answer = await all.call('POST', '/memories', { subject: 'ann', text: wrong })
      expect(answer.status).toBe(400)
    }
    expect((await all.call('POST', '/memories', { ...body, app_id: 'none' })).status).toBe(404)
    const device = { subject: 'device:none', text: 'x' }
    expect((await all.call('POST', '/memories', device)).status).toBe(404)
    expect(codeOf(await all.call('GET', '/memories?subject=a b'))).toEqual([400, 'memory_subject'])
    expect((await all.call('GET', '/memories?subject=wyoming')).status).toBe(200)
    expect((await all.call('DELETE', '/memories')).status).toBe(400)
    expect((await all.call('DELETE', '/memories?subject=ann')).json()).toEqual({ deleted: 2 })
  })

  test('of an app is read by its keys alone, and ends with it and with its device', async () => {
    const { all, key, appId, mail } = await tenantWith('app')
    const other = memoryClient(`${app.url}/v1`, (await appOf(app, mail, {})).headers)
    const shared = await all.tell({ subject: 'ann', text: 'shared' })
    const own = await key.tell({ subject: 'ann', text: 'own' })
    expect([shared.app_id, own.app_id]).toEqual([null, appId])
    expect((await key.list('?subject=ann')).map(({ text }) => text)).toEqual(['own'])
    expect((await key.call('DELETE', `/memories/${shared.id}`)).status).toBe(404)
    expect((await other.call('PUT', `/memories/${own.id}`, { text: 'x' })).status).toBe(404)
    expect(await other.list('?subject=ann')).toEqual([])
    const device = (await all.call<{ id: string }>('POST', '/devices', { name: 'd' })).json()
    const subject = `device:${device.id}`
    await all.tell({ subject, text: 'The room is blue' })
    const boards = await app.key(mail, { deviceId: device.id })
    const board = memoryClient(`${app.url}/v1`, boards.headers)
    expect((await board.call('GET', '/memories?subject=ann')).status).toBe(403)
    await all.call('POST', `/devices/${device.id}/recode`)
    expect(await all.list(`?subject=${subject}`)).toHaveLength(1)
    await all.call('DELETE', `/devices/${device.id}`)
    expect((await all.call('GET', `/memories?subject=${subject}`)).status).toBe(404)
    await all.call('DELETE', `/apps/${appId}`)
    expect((await all.list('?subject=ann')).map(({ text }) => text)).toEqual(['shared'])
    const subjects = (await all.call<{ subjects: object[] }>('GET', '/memories/subjects')).json()
    expect(subjects.subjects).toMatchObject([{ subject: 'ann', count: 1 }])
  })
})
