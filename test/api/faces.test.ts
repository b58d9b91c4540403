import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { startTeam } from '../support/team.ts'
import { exported } from '../support/transfer.ts'

interface Version {
  readonly version: number
  readonly at: string
  readonly person: string | null
  readonly key_id: string | null
  readonly changed: readonly string[]
}

const FACE = {
  icon: '👩🏽‍🚀',
  description: '回答顾客的问题',
  greeting: '您好！\n请问有什么可以帮您？',
  starters: ['几点开门？', '怎么退货？'],
}

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app[Symbol.asyncDispose]())

/** The owner of a new tenant with an app. */
async function startAssistant(body: object = {}) {
  const owner = await startTeam(app)
  const made = await owner.call<{ id: string }>('POST', '/console/apps', { name: 'v0', ...body })
  const { id } = made.json()
  const at = `/console/apps/${id}`
  return {
    ...owner,
    id,
    at,
    made: made.json(),
    put: (more: object) => owner.call('PUT', at, { name: 'v0', ...more }),
    versions: async () =>
      (await owner.call<{ versions: Version[] }>('GET', `${at}/versions`)).json().versions,
  }
}

describe('the face of an app', () => {
  test('a face is kept, listed and exported, and goes when it is left out', async () => {
    const { call, at, put } = await startAssistant()
    expect((await put(FACE)).json()).toMatchObject(FACE)
    expect((await call('GET', at)).json()).toMatchObject(FACE)
    expect((await call<{ apps: object[] }>('GET', '/console/apps')).json().apps).toEqual([
      expect.objectContaining(FACE),
    ])
    const config = (await call<{ apps: object[] }>('GET', '/console/export')).json()
    expect(config.apps).toEqual([expect.objectContaining(FACE)])
    const other = await startTeam(app)
    await other.call('POST', '/console/import', { config })
    expect((await exported(caller(`${app.url}/console`, other.headers))).apps).toEqual([
      expect.objectContaining(FACE),
    ])
    const nothing = { icon: null, description: null, greeting: null, starters: [] }
    expect((await put({})).json()).toMatchObject(nothing)
    expect((await put({ icon: ' ', greeting: '', starters: null })).json()).toMatchObject(nothing)
  })

  test.each([
    ...['😀', '🇨🇳', '1️⃣', '❤️', '👨‍👩‍👧‍👦', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '🫡'].map((icon) => [{ icon }, null] as const),
    ...['x', '1', '😀😀', '😀 x', '❤', '🇨', '客', '\u200d'].map(
      (icon) => [{ icon }, 'icon_not_emoji'] as const,
    ),
    [{ icon: 5 }, 'field_type'],
    [{ description: 'x'.repeat(200) }, null],
    [{ description: 'x'.repeat(201) }, 'field_too_long'],
    [{ greeting: '😀'.repeat(500) }, null],
    [{ greeting: 'x'.repeat(501) }, 'field_too_long'],
    [{ starters: Array(6).fill('x'.repeat(120)) }, null],
    [{ starters: Array(7).fill('x') }, 'too_many_items'],
    [{ starters: ['x'.repeat(121)] }, 'field_too_long'],
    [{ starters: [' '] }, 'field_empty'],
    [{ starters: [5] }, 'field_required'],
    [{ starters: 'x' }, 'field_type'],
  ])('the face %j is answered with %p', async (face, code) => {
    const { put, call, at } = await startAssistant({ icon: '🛒' })
    const answer = await put(face)
    expect([answer.status, answer.headers.get('x-error-code')]).toEqual([code ? 400 : 200, code])
    if (code) expect((await call('GET', at)).json()).toMatchObject({ icon: '🛒' })
  })

  test('in an import a wrong face is an error of that app alone', async () => {
    const { call } = await startTeam(app)
    const apps = [
      { name: 'good', icon: '🛒' },
      { name: 'bad', icon: 'xx' },
    ]
    const config = { format_version: 1, apps }
    const { imported, errors } = (
      await call<{ imported: object; errors: string[] }>('POST', '/console/import', { config })
    ).json()
    expect(imported).toMatchObject({ apps: 1 })
    expect(errors).toHaveLength(1)
  })
})

describe('versions of an app', () => {
  test('each change keeps what was, by whom and in which fields', async () => {
    const { email, at, call, put, versions, made, id } = await startAssistant()
    expect(await versions()).toEqual([])
    await put({ name: 'v1', greeting: 'hello' })
    const key = await app.key(email)
    const machine = caller(app.url, key.headers)
    await machine('PUT', `/v1/apps/${id}`, { name: 'v1', temperature: 1 })
    expect(await versions()).toEqual([
      {
        ...{ version: 2, at: expect.any(String), person: null, key_id: key.id },
        changed: ['temperature', 'greeting'],
      },
      {
        ...{ version: 1, at: expect.any(String), person: email, key_id: null },
        changed: ['name', 'greeting'],
      },
    ])
    expect((await call('GET', `${at}/versions/1`)).json()).toEqual(made)
    const second = await call('GET', `${at}/versions/2`)
    expect(second.json()).toMatchObject({ name: 'v1', greeting: 'hello', temperature: null })
    expect((await call('PUT', at, second.json())).json()).toEqual(second.json())
    expect((await versions()).map(({ version }) => version)).toEqual([3, 2, 1])
  })

  test('a change that changes nothing keeps no version, and a refused one neither', async () => {
    const { put, versions } = await startAssistant()
    await put({})
    await put({ icon: 'xx' })
    expect(await versions()).toEqual([])
  })

  test('changes at the same time give a version each', async () => {
    const { put, versions, call, at } = await startAssistant()
    const names = Array.from({ length: 6 }, (_, i) => `name ${i}`)
    const answers = await Promise.all(names.map((name) => put({ name })))
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200))
    const kept = await versions()
    expect(kept.map(({ version }) => version)).toEqual([6, 5, 4, 3, 2, 1])
    const was = await Promise.all(
      kept.map(async ({ version }) => (await call('GET', `${at}/versions/${version}`)).json().name),
    )
    const now = (await call('GET', at)).json().name
    expect([now, ...was].sort()).toEqual([...names, 'v0'].sort())
  })

  test('the last 30 versions are kept', async () => {
    const { put, versions, call, at } = await startAssistant()
    for (let n = 1; n <= 32; n += 1) await put({ name: `v${n}` })
    const kept = (await versions()).map(({ version }) => version)
    expect(kept).toEqual(Array.from({ length: 30 }, (_, i) => 32 - i))
    expect((await call('GET', `${at}/versions/3`)).json()).toMatchObject({ name: 'v2' })
    for (const gone of ['2', '33', '0', '-1', 'x', '1.5', '99999999999999999999']) {
      expect((await call('GET', `${at}/versions/${gone}`)).status).toBe(404)
    }
  })

  test('an import that replaces an app keeps a version, too', async () => {
    const { call, versions, email } = await startAssistant()
    const config = { format_version: 1, apps: [{ name: 'v0', icon: '🛒' }] }
    await call('POST', '/console/import', { config, mode: 'merge' })
    expect(await versions()).toEqual([
      expect.objectContaining({ version: 1, person: email, changed: ['icon'] }),
    ])
  })

  test('versions are for managers of the tenant, and go with their app', async () => {
    const { put, call, at, id, join, email } = await startAssistant()
    await put({ name: 'v1' })
    const viewer = await join('viewer')
    expect((await viewer.call('GET', `${at}/versions`)).status).toBe(200)
    const stranger = await startTeam(app)
    expect((await stranger.call('GET', `${at}/versions`)).status).toBe(404)
    expect((await stranger.call('GET', `${at}/versions/1`)).status).toBe(404)
    const own = caller(app.url, (await app.key(email, { appId: id })).headers)
    expect((await own('GET', `/v1/apps/${id}/versions`)).status).toBe(403)
    await call('DELETE', at)
    expect((await call('GET', `${at}/versions`)).status).toBe(404)
    const rows = await app.db.all({ sql: 'SELECT * FROM app_version WHERE app_id = ?', args: [id] })
    expect(rows).toEqual([])
  })
})
