import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Call } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { startTeam } from '../support/team.ts'

let app: TestApp

beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app[Symbol.asyncDispose]())

const team = () => startTeam(app)

test('a removal tells how many keys the member has made, and revokes them when asked', async () => {
  const owner = await team()
  const [one, two] = [await owner.join('editor'), await owner.join('editor')]
  const { id } = (await owner.call<{ id: string }>('POST', '/console/apps', { name: 'a' })).json()
  const keyOf = async ({ call }: { call: Call }) =>
    (await call<{ key: string }>('POST', `/console/apps/${id}/keys`, {})).json().key
  const [kept, gone] = [await keyOf(one), await keyOf(two)]
  const own = await keyOf(owner)
  const counts = (await owner.list()).map(({ keys }) => keys)
  expect(counts).toEqual([1, 1, 1])
  const works = async (key: string) =>
    (await fetch(`${app.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status
  const at = (member: { id: string }) => `/console/members/${member.id}`
  expect((await owner.call('DELETE', at(one))).json()).toMatchObject({ revoked_keys: 0 })
  const removed = await owner.call('DELETE', `${at(two)}?keys=revoke`)
  expect(removed.json()).toMatchObject({ revoked_keys: 1 })
  expect([await works(kept), await works(gone), await works(own)]).toEqual([200, 401, 200])
})

test('a removal with a word that is not known removes nobody', async () => {
  const owner = await team()
  const member = await owner.join('viewer')
  for (const query of ['talks=deleted', 'talks=', 'keys=revok', 'keys=revoke&talks=Delete']) {
    const refused = await owner.call('DELETE', `/console/members/${member.id}?${query}`)
    expect([refused.status, refused.headers.get('x-error-code')]).toEqual([400, 'query_invalid'])
  }
  expect((await owner.list()).map(({ id }) => id)).toContain(member.id)
  const kept = await owner.call('DELETE', `/console/members/${member.id}?keys=keep&talks=keep`)
  expect(kept.status).toBe(200)
})

test('a refused removal revokes nothing', async () => {
  const owner = await team()
  const key = (await owner.call<{ key: string }>('POST', '/console/keys', {})).json().key
  const [own] = await owner.list()
  expect((await owner.call('DELETE', `/console/members/${own?.id}?keys=revoke`)).status).toBe(400)
  const headers = { authorization: `Bearer ${key}` }
  expect((await fetch(`${app.url}/v1/apps`, { headers })).status).toBe(200)
})

test('general keys are for owners, those of apps and devices for editors', async () => {
  const owner = await team()
  const { call } = await owner.join('editor')
  const { id } = (await call<{ id: string }>('POST', '/console/apps', { name: 'a' })).json()
  const general = (await owner.call<{ id: string }>('POST', '/console/keys', {})).json().id
  const ofApp = (await call<{ id: string }>('POST', `/console/apps/${id}/keys`, {})).json().id
  expect((await call('PUT', `/console/keys/${general}`, { name: 'x' })).status).toBe(403)
  expect((await call('DELETE', `/console/keys/${general}`)).status).toBe(403)
  expect((await call('PUT', `/console/keys/${ofApp}`, { name: 'x' })).status).toBe(200)
  expect((await call('DELETE', `/console/keys/${ofApp}`)).status).toBe(200)
  expect((await owner.call('DELETE', `/console/keys/${general}`)).status).toBe(200)
})
