import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs'
import type { StatusReport } from '../../src/features/site/status.ts'
import { type Call, caller } from '../support/api.ts'
import { ON_POSTGRES, startApp, type TestApp } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'
import { run } from '../support/run.ts'
import { postSse } from '../support/sse.ts'
import { tempFolder } from '../support/temp.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const PASSPHRASE = 'open this backup'

let upstream: Upstream
let app: TestApp
let boss: Call
beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl })
  boss = caller(`${app.url}/console`, (await app.operator()).headers)
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

async function turn(path: string, headers: Record<string, string>, body: object = { text: 'hi' }) {
  const stream = await postSse(`${app.url}${path}`, { headers, body })
  return stream.all()
}

type Door = { door: string; turns: number; failures: number }
interface Overview {
  readonly version: string
  readonly uptime_s: number
  readonly disk: { readonly used_bytes: number; readonly free_bytes: number }
  readonly memory: { readonly rss_bytes: number; readonly budget_used_bytes: number }
  readonly people_today: number
  readonly turns_hour: number
  readonly failures_hour: number
  readonly by_door: readonly Door[]
  readonly last_backup: unknown
  readonly channel: { readonly ok: boolean; readonly class: string | null; readonly at: string }
}

test('the overview has the numbers of the server and no content', async () => {
  const key = await app.key('tenant@example.com')
  const { headers } = await app.person('talker@example.com')
  await turn('/v1/agent', key.headers, { text: 'a secret question' })
  await turn('/console/agent', headers)
  upstream.fault(400)
  await turn('/console/agent', headers)
  upstream.reset()
  const answer = await boss<Overview>('GET', '/system/overview')
  const shown = answer.json()
  expect(shown).toMatchObject({
    ...{ turns_hour: 3, failures_hour: 1, last_backup: null, channel: { ok: true, class: null } },
    by_door: [
      { door: 'agent', turns: 1, failures: 0 },
      { door: 'console', turns: 2, failures: 1 },
    ],
  })
  // Who has only signed in, and who has only asked.
  expect(shown.people_today).toBe(2)
  expect(shown.version).toMatch(/^\d+\.\d+\.\d+/)
  const { disk, memory, uptime_s: uptime } = shown
  for (const number of [disk.used_bytes, disk.free_bytes, memory.rss_bytes]) {
    expect(number).toBeGreaterThan(0)
  }
  expect(uptime).toBeGreaterThanOrEqual(0)
  expect(answer.text).not.toContain('secret question')
})

test('the status page tells when half of the answers of the hour have failed', async () => {
  const clock = fakeClock()
  await using own = await startApp({ upstream: upstream.baseUrl, clock })
  const { headers } = await own.person()
  const ask = async (times: number, isRefused = false) => {
    for (let i = 0; i < times; i++) {
      if (isRefused) upstream.fault(400)
      await (await postSse(`${own.url}/console/agent`, { headers, body: { text: 'hi' } })).all()
    }
  }
  const answers = async () => {
    clock.advance(6_000)
    const { checks } = (await (await fetch(`${own.url}/status?format=json`)).json()) as StatusReport
    return checks.find(({ name }) => name === 'turns')
  }
  await ask(4)
  expect(await answers()).toBeUndefined()
  await ask(4, true)
  upstream.reset()
  expect(await answers()).toMatchObject({ state: 'down', class: 'turns_failing' })
  await ask(1)
  expect(await answers()).toMatchObject({ state: 'ok' })
})

test('the limits of a tenant, and the refusal, tell its own number of documents', async () => {
  const key = await app.key('small@example.com')
  const call = caller(`${app.url}/v1`, key.headers)
  const limits = { daily_tokens: 0, max_docs: 1, disabled: false }
  expect((await boss('PUT', `/system/tenants/${key.tenantId}`, limits)).status).toBe(200)
  expect((await call('GET', '/kb/limits')).json()).toMatchObject({ docs_max: 1 })
  const add = (title: string) => call('POST', '/kb/docs', { title, text: 'the moon' })
  expect((await add('one')).status).toBe(201)
  const refused = await add('two')
  expect(refused.status).toBe(403)
  expect(refused.text).toContain('1 篇')
  await boss('PUT', `/system/tenants/${key.tenantId}`, { ...limits, max_docs: null })
  expect((await call('GET', '/kb/limits')).json()).toMatchObject({ docs_max: 50 })
})

test('the server listens on an address of the console, too, at once, and no more', async () => {
  const { port } = new URL(app.url)
  const at = (host: string) => fetch(`http://${host}:${port}/status`).then(({ status }) => status)
  const put = (host: string | null) => boss('PUT', '/system', { MB_HOST: host })
  await expect(at('127.0.0.2')).rejects.toThrow()
  for (const host of ['127.0.0.2', '0.0.0.0']) {
    expect((await put(host)).status).toBe(200)
    expect([host, await at('127.0.0.2'), await at('127.0.0.1')]).toEqual([host, 200, 200])
    const told = await boss('POST', '/system/test', { part: 'host' })
    expect(told.json()).toMatchObject({ ok: true })
    expect(told.text).toContain(`:${port}`)
    expect((await put(null)).status).toBe(200)
    expect(await at('127.0.0.1')).toBe(200)
    await expect(at('127.0.0.2')).rejects.toThrow()
  }
  for (const wrong of ['192.0.2.1', 'no host', 'nowhere.invalid']) {
    const refused = await put(wrong)
    expect([wrong, refused.status, refused.text]).toEqual([
      wrong,
      400,
      expect.stringContaining('MB_HOST'),
    ])
  }
  expect(await at('127.0.0.1')).toBe(200)
})

interface Backups {
  readonly place: string | null
  readonly last: {
    readonly ok: boolean
    readonly bytes: number
    readonly error_class: string
  } | null
  readonly next_at: string | null
  readonly kept: readonly { readonly name: string; readonly at: string; readonly bytes: number }[]
}

test('without a place no backup is made, and none is on PostgreSQL', async () => {
  const none = { place: null, last: null, next_at: null, kept: [] }
  expect((await boss('GET', '/system/backups')).json() as unknown).toEqual(none)
  const refused = await boss('POST', '/system/backups')
  const code = ON_POSTGRES ? 'backup_postgres' : 'backup_no_place'
  expect([refused.status, refused.headers.get('x-error-code')]).toEqual([400, code])
  if (!ON_POSTGRES) return
  const headers = { 'x-backup-passphrase': PASSPHRASE }
  expect((await boss('GET', '/system/backups/download', undefined, headers)).status).toBe(400)
  expect((await boss('PUT', '/system', { MB_BACKUP_DIR: 'x' })).status).toBe(400)
})

test.skipIf(ON_POSTGRES)('backups are set in the console and made at once', async () => {
  using folder = tempFolder()
  const place = folder.file('drawer')
  const alone = await boss('PUT', '/system', { MB_BACKUP_DIR: place })
  expect(alone.status).toBe(400)
  const short = { MB_BACKUP_DIR: place, MB_BACKUP_PASSPHRASE: 'eleven char' }
  const weak = await boss('PUT', '/system', short)
  expect([weak.status, weak.headers.get('x-error-code')]).toEqual([400, 'backup_passphrase'])
  const settings = { MB_BACKUP_DIR: place, MB_BACKUP_PASSPHRASE: PASSPHRASE, MB_BACKUP_KEEP: '1' }
  const put = await boss('PUT', '/system', settings)
  expect([put.status, put.text.includes(PASSPHRASE)]).toEqual([200, false])
  const read = async () => (await boss<Backups>('GET', '/system/backups')).json()
  expect(await read()).toMatchObject({ place, last: null, kept: [] })
  expect(Date.parse((await read()).next_at ?? '')).toBeGreaterThan(Date.now())
  const names = new Set<string>()
  for (let round = 0; round < 2; round++) {
    const stored = app.printed.text().split('"backup stored"').length
    expect((await boss('POST', '/system/backups')).status).toBe(202)
    await app.printed.until((text) => text.split('"backup stored"').length > stored || null)
    const { last, kept } = await read()
    expect(last).toMatchObject({ ok: true, error_class: null, bytes: kept[0]?.bytes })
    expect([kept.length, (kept[0]?.bytes ?? 0) > 0]).toEqual([1, true])
    names.add(kept[0]?.name ?? '')
  }
  expect(names.size).toBe(2)
  const { last_backup: last } = (await boss<Overview>('GET', '/system/overview')).json()
  expect(last).toMatchObject({ ok: true })
  const way = folder.file('no/way')
  const early = await boss('PUT', '/system', { MB_BACKUP_DIR: way })
  expect([early.status, early.headers.get('x-error-code')]).toEqual([400, 'backup_folder'])
  expect(new URLSearchParams(early.headers.get('x-error-params') ?? '').get('class')).toBe(
    'no_folder',
  )
  expect(await read()).toMatchObject({ place })
  mkdirSync(folder.file('no'))
  expect((await boss('PUT', '/system', { MB_BACKUP_DIR: way })).status).toBe(200)
  // What is tried is not left behind.
  expect(readdirSync(folder.file('no'))).toEqual([])
  rmdirSync(folder.file('no'))
  const begun = await boss<Backups>('POST', '/system/backups')
  expect([begun.status, begun.json().next_at]).toEqual([202, null])
  await app.printed.until((text) => text.includes('"backup failed"') || null)
  expect((await read()).last).toMatchObject({ ok: false, error_class: 'no_folder' })
  const cleared = Object.fromEntries(Object.keys(settings).map((name) => [name, null]))
  expect((await boss('PUT', '/system', cleared)).status).toBe(200)
  expect(await read()).toMatchObject({ place: null, next_at: null })
})

test.skipIf(ON_POSTGRES)('a download opens with its passphrase, and is in the audit', async () => {
  const download = (passphrase?: string) =>
    fetch(`${app.url}/console/system/backups/download`, {
      headers: {
        ...cookie,
        ...(passphrase === undefined ? {} : { 'x-backup-passphrase': passphrase }),
      },
    })
  const cookie = (await app.operator()).headers
  for (const wrong of [undefined, '', 'short', `${' '.repeat(20)}short`, 'pässphrase zwölf']) {
    expect([wrong, (await download(wrong)).status]).toEqual([wrong, 400])
  }
  const answer = await download(PASSPHRASE)
  expect(answer.status).toBe(200)
  const name = /filename="(moonbase-\S+\.backup)"/.exec(
    answer.headers.get('content-disposition') ?? '',
  )
  using folder = tempFolder()
  const file = folder.file(name?.[1] ?? 'none')
  const bytes = Buffer.from(await answer.arrayBuffer())
  expect(bytes.includes('SQLite')).toBe(false)
  writeFileSync(file, bytes)
  const restore = (passphrase: string) =>
    run(['restore', file], folder.file('data'), { MB_BACKUP_PASSPHRASE: passphrase })
  expect((await restore('another passphrase')).code).not.toBe(0)
  expect(await restore(PASSPHRASE)).toMatchObject({ code: 0 })
  const audit = (await boss<{ entries: { action: string }[] }>('GET', '/audit')).json()
  expect(audit.entries.map(({ action }) => action)).toContain('system.download')
  expect(audit.entries.map(({ action }) => action)).toContain('system.backup')
})

test('a cookie is marked Secure but for plain http in a network of one’s own', async () => {
  const secure = async (host: string) => {
    const response = await fetch(`${app.url}/auth/logout`, {
      method: 'POST',
      headers: { host, cookie: (await app.person()).headers.cookie },
    })
    return /; Secure/i.test(response.headers.get('set-cookie') ?? '')
  }
  const near = ['192.168.1.20:3900', '10.0.0.7', '172.16.3.4', 'nas', 'nas.local', 'box.lan']
  for (const host of [...near, 'moon.home.arpa']) {
    expect([host, await secure(host)]).toEqual([host, false])
  }
  for (const host of ['127.0.0.1:3900', 'localhost:3900', 'moon.example', '203.0.113.9']) {
    expect([host, await secure(host)]).toEqual([host, true])
  }
})
