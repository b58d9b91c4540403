import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSeal } from '../../src/core/crypto.ts'
import { secretOwner } from '../../src/features/webhooks/store.ts'
import { MIGRATIONS } from '../../src/storage/migrations/index.ts'
import { takeLock } from '../../src/storage/sqlite/connection.ts'
import { FIXTURE_KEY } from '../fixtures/databases/seed.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { postgresSettings } from '../support/postgres.ts'
import { run } from '../support/run.ts'
import { type TempFolder, tempFolder } from '../support/temp.ts'

const FIXTURES = join(import.meta.dir, '..', 'fixtures', 'databases')
const OLD_KEY = '00'.repeat(32)
const WEBHOOK = secretOwner({ tenantId: 'tenant-1', id: 'webhook-1' })
const headers = { authorization: `Bearer ${FIXTURE_KEY}` }

/** A box with rows in every table, as a server of this version left it. */
async function seededBox(folder: TempFolder): Promise<string> {
  const newest = MIGRATIONS.at(-1)?.name ?? ''
  const packed = await Bun.file(join(FIXTURES, `${newest}.db.gz`)).arrayBuffer()
  const box = folder.file('box')
  mkdirSync(box)
  writeFileSync(join(box, 'moonbase.db'), Bun.gunzipSync(packed))
  const secrets = { session_secret: OLD_KEY, encryption_key: OLD_KEY }
  writeFileSync(join(box, 'secrets.json'), JSON.stringify(secrets), { mode: 0o600 })
  using db = new Database(join(box, 'moonbase.db'))
  const seal = createSeal(Buffer.from(OLD_KEY, 'hex'))
  db.run('UPDATE provider SET key_sealed = ?', [seal.seal('sk-of-a-tenant', 'tenant-1')])
  const secret = seal.seal('whsec-of-a-webhook', WEBHOOK)
  db.run('UPDATE webhook SET secret_sealed = ?, former_sealed = ?', [secret, secret])
  // Nothing is due while the answers are compared: an attempt would show in the list of webhooks.
  db.run('UPDATE webhook_delivery SET due_at = ?', [Date.UTC(2100, 0)])
  return box
}

async function addDocument(app: TestApp): Promise<void> {
  const text = 'The warranty of the telescope lasts two years.\n\n望远镜的保修期为两年。'
  const body = JSON.stringify({ title: 'Telescope', text })
  const added = await fetch(`${app.url}/v1/kb/docs`, { method: 'POST', headers, body })
  expect(added.status).toBe(201)
}

/** A file that a server took and has not read. */
function leaveUpload(box: string): void {
  mkdirSync(join(box, 'spool'), { recursive: true })
  writeFileSync(join(box, 'spool', 'upload-1'), '# Comet\n\nThe comet returns in 2061.')
  using db = new Database(join(box, 'moonbase.db'))
  db.run(
    `INSERT INTO kb_source (id, tenant_id, kind, title, is_named, file_name, media_type, bytes,
      state, created_at, due_at)
    SELECT 'upload-1', tenant_id, 'file', 'Comet', 1, 'comet.md', 'text/markdown', 36, 'reading',
      created_at, 0 FROM kb_source LIMIT 1`,
  )
}

/** Waits until the file is read, looks for it, and deletes it. */
async function takeUpload(app: TestApp): Promise<void> {
  const call = async (path: string, init: RequestInit = {}) =>
    (await fetch(`${app.url}/v1/kb/${path}`, { headers, ...init })).json() as Promise<never>
  while (((await call('sources/upload-1')) as { state: string }).state !== 'ready')
    await Bun.sleep(20)
  const body = JSON.stringify({ q: 'comet' })
  const { results } = (await call('search', { method: 'POST', body })) as {
    results: { text: string }[]
  }
  expect(results.map(({ text }) => text).join()).toContain('2061')
  await call('sources/upload-1', { method: 'DELETE' })
}

/** Resolves when every document is embedded, which happens in the background. */
async function embedded(app: TestApp): Promise<void> {
  const ask = async () => (await fetch(`${app.url}/v1/kb/embedding`, { headers })).json()
  while (((await ask()) as { waiting: number }).waiting > 0) await Bun.sleep(20)
}

/** What every list that a key may read answers, and what a search finds. */
async function answersOf(app: TestApp): Promise<Record<string, unknown>> {
  const paths = app.routes
    .filter(({ method, path }) => method === 'GET' && path.startsWith('/v1/'))
    .map(({ path }) => path.replace(':id', 's'))
    .filter((path) => !/:|\/(openapi|models|logs|audit|usage|mcp$|export)/.test(path))
  const answers: Record<string, unknown> = {}
  await embedded(app)
  for (const path of paths) {
    const response = await fetch(app.url + path, { headers })
    answers[path] = [response.status, await response.text()]
  }
  const body = JSON.stringify({ q: 'telescope warranty' })
  const found = await fetch(`${app.url}/v1/kb/search`, { method: 'POST', headers, body })
  const { results } = (await found.json()) as {
    results: { doc_id: string; title: string; text: string }[]
  }
  answers.search = results.map(({ doc_id, title, text }) => [doc_id, title, text])
  return answers
}

test('a box that is migrated to PostgreSQL answers as before', async () => {
  using folder = tempFolder()
  const box = await seededBox(folder)
  let before: Record<string, unknown>
  {
    await using app = await startApp({ dataDir: box })
    await addDocument(app)
    await app.flush()
    before = await answersOf(app)
  }
  expect(Object.keys(before).length).toBeGreaterThan(10)
  expect(before.search).not.toEqual([])

  const target = folder.file('replica')
  const settings = await postgresSettings(target)
  const migrate = (...more: string[]) => run(['migrate', '--from', box, ...more], target, settings)
  const lock = takeLock(join(box, 'moonbase.lock'))
  expect((await migrate()).err).toContain('stop it first')
  lock?.release()
  const { code, out, err } = await migrate()
  expect([code, err]).toEqual([0, ''])
  expect(out).toContain('kb_vector')
  expect((await migrate()).err).toContain('--force')
  leaveUpload(box)
  expect((await migrate('--force')).out).toMatch(/uploads +1\n/)

  await using app = await startApp({ dataDir: target, env: settings })
  expect((await migrate('--force')).err).toContain('a server uses the database')
  await takeUpload(app)
  expect(await answersOf(app)).toEqual(before)
  const [logged] = await app.db.all<Record<'stored' | 'counted' | 'ofDays', number>>({
    sql: `SELECT (SELECT count(*) FROM request_log) AS stored,
      (SELECT sum(count) FROM request_log_count WHERE day = -1) AS counted,
      (SELECT sum(count) FROM request_log_count WHERE day >= 0) AS "ofDays"`,
    args: [],
  })
  expect(logged?.stored).toBeGreaterThan(0)
  expect(logged).toMatchObject({ counted: logged?.stored, ofDays: logged?.stored })
  const [provider] = await app.db.all<{ key_sealed: Uint8Array }>({
    sql: 'SELECT key_sealed FROM provider',
    args: [],
  })
  const seal = createSeal(Buffer.from(settings.MB_ENCRYPTION_KEY, 'hex'))
  expect(seal.open(provider?.key_sealed ?? new Uint8Array(), 'tenant-1')).toBe('sk-of-a-tenant')
  const [webhook] = await app.db.all<Record<'secret_sealed' | 'former_sealed', Uint8Array>>({
    sql: 'SELECT secret_sealed, former_sealed FROM webhook',
    args: [],
  })
  for (const secret of Object.values(webhook ?? {})) {
    expect(seal.open(secret, WEBHOOK)).toBe('whsec-of-a-webhook')
  }
  await addDocument(app)
}, 120_000)
