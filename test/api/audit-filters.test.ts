import { afterAll, beforeAll, expect, test } from 'bun:test'
import { AUDIT_SCAN_MAX } from '../../src/core/limits/machine.ts'
import { type Call, caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { startTeam } from '../support/team.ts'

interface Entry {
  readonly id: string
  readonly action: string
  readonly target: string | null
}
type Page = { entries: Entry[]; next_before: string | null }

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app[Symbol.asyncDispose]())

const read = async (call: Call, query = '') =>
  (await call<Page>('GET', `/console/audit${query}`)).json()

test('a person, a key and a kind of change are found across pages', async () => {
  const { call, email, join } = await startTeam(app)
  const editor = await join('editor')
  const key = await app.key(email)
  const machine = caller(`${app.url}/v1`, key.headers)
  const made: string[] = []
  for (const by of [call, editor.call, call]) {
    const persona = { name: `p${made.length}`, prompt: 'p' }
    made.push((await by<{ id: string }>('POST', '/console/personas', persona)).json().id)
    await call('PUT', '/console/settings', {})
  }
  await machine('POST', '/devices', { name: 'd' })
  const seen = async (query: Readonly<Record<string, string>>) => {
    const { entries } = await read(call, `?${new URLSearchParams(query)}`)
    return entries.map(({ action, target }) => (action.startsWith('persona') ? target : action))
  }
  expect(await seen({ action: 'persona.create' })).toEqual([...made].reverse())
  expect(await seen({ action: 'persona' })).toEqual([...made].reverse())
  expect(await seen({ action: 'persona.delete' })).toEqual([])
  const ofEditor = { actor: editor.email.toUpperCase() }
  expect(await seen(ofEditor)).toEqual([made[1] ?? '', 'member.accept'])
  expect(await seen({ actor: key.id })).toEqual(['device.create'])
  expect(await seen({ actor: 'nobody@example.com' })).toEqual([])
  expect(await seen({ ...ofEditor, action: 'member' })).toEqual(['member.accept'])
  expect(await seen({ actor: '', action: '', limit: '1' })).toEqual(['device.create'])
  const pageOf = (before: string | null) =>
    read(call, `?actor=${email}&action=persona&limit=1${before ? `&before=${before}` : ''}`)
  const first = await pageOf(null)
  const second = await pageOf(first.next_before)
  expect([...first.entries, ...second.entries].map(({ target }) => target)).toEqual([
    ...[made[2] ?? '', made[0] ?? ''],
  ])
  expect(second.next_before).toBeNull()
  for (const wrong of ['action=sold', 'action=persona.', `actor=${'x'.repeat(201)}`]) {
    const answer = await call('GET', `/console/audit?${wrong}`)
    expect([answer.status, answer.headers.get('x-error-code')]).toEqual([400, 'query_invalid'])
  }
})

test('a filter that finds nothing among many lines leads on to older ones', async () => {
  const { call, email } = await startTeam(app)
  await call('PUT', '/console/settings', {})
  const [own] = (await read(call)).entries
  await app.db.run({
    sql: `INSERT INTO audit (tenant_id, id, ts, person, action, address)
      SELECT audit.tenant_id, 'ffffffff-ffff-7fff-8fff-' || (v.value ->> 0), ts, 'x@example.com',
        'key.update', address
      FROM audit CROSS JOIN json_each(?) v WHERE audit.id = ?`,
    args: [
      JSON.stringify(Array.from({ length: AUDIT_SCAN_MAX }, (_, at) => [`${1e11 + at}`])),
      own?.id ?? '',
    ],
  })
  const first = await read(call, `?actor=${email}`)
  expect(first).toEqual({ entries: [], next_before: 'ffffffff-ffff-7fff-8fff-100000000000' })
  const next = await read(call, `?actor=${email}&before=${first.next_before}`)
  expect(next.entries).toContainEqual(own as Entry)
  expect(next.next_before).toBeNull()
})
