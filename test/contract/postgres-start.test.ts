import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { examineDatabase, judge } from '../../src/commands/doctor/database.ts'
import { loadConfig } from '../../src/config.ts'
import { systemClock } from '../../src/core/clock.ts'
import { migratePostgres } from '../../src/storage/postgres/migrate.ts'
import { MIGRATIONS } from '../../src/storage/postgres/migrations/index.ts'
import { openPostgresStorage } from '../../src/wiring/postgres.ts'
import { startLine } from '../support/cut.ts'
import {
  freePort,
  hasPostgres,
  postgresCertificate,
  startPostgres,
  type TestPostgres,
} from '../support/postgres.ts'
import { askPostgres } from '../support/postgres-client.ts'
import { run as command } from '../support/run.ts'
import { tempFolder } from '../support/temp.ts'

const clock = systemClock()
const MIGRATED = MIGRATIONS.map(({ name }) => name)
const start = (url: string, more: object = {}) =>
  migratePostgres({ url, clock, migrations: MIGRATIONS, ...more })

function changed(url: string, change: (address: URL) => void): string {
  const address = new URL(url)
  change(address)
  return address.href
}

let migrated: TestPostgres
let empty: TestPostgres
beforeAll(async () => {
  migrated = await startPostgres('all')
  empty = await startPostgres('none')
})
afterAll(async () => {
  await migrated[Symbol.asyncDispose]()
  await empty[Symbol.asyncDispose]()
})

let plainRoles = 0

/** The same database, for a role that owns it and is no administrator. */
async function asPlainRole(url: string): Promise<string> {
  plainRoles += 1
  const role = `plain_${process.pid}_${plainRoles}`
  await askPostgres(url, `CREATE ROLE ${role} LOGIN; GRANT CREATE ON SCHEMA public TO ${role}`)
  await askPostgres(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} OWNER TO ${role}`)
  return changed(url, (address) => {
    address.username = role
  })
}

describe('a start', () => {
  test('a start waits for a database that is starting', async () => {
    await using line = await startLine(Number(new URL(migrated.url).port))
    line.cut()
    const sleep = async () => {
      if (line.tried() === 3) line.mend()
    }
    const url = changed(migrated.url, (address) => {
      address.port = String(line.port)
    })
    expect(await start(url, { clock: { ...clock, sleep } })).toEqual([])
    expect(line.tried()).toBe(4)
  })

  test('a start without its database is given up after half a minute, with a reason', async () => {
    let now = 0
    const sleep = async (ms: number) => {
      now += ms
    }
    const url = changed(migrated.url, (address) => {
      address.port = String(freePort())
    })
    const given = start(url, { clock: { ...clock, steady: () => now, sleep } })
    await expect(given).rejects.toThrow(/^cannot be reached: .*ECONNREFUSED/)
    expect(now).toBe(30_000)
  })

  test.each([
    ['MB_ENCRYPTION_KEY', 'off', 'MB_ENCRYPTION_KEY must be set'],
    ['MB_ENCRYPTION_KEY', undefined, 'MB_ENCRYPTION_KEY must be set'],
    ['MB_SESSION_SECRET', undefined, 'MB_SESSION_SECRET must be set'],
    ['MB_BACKUP_S3', 's3://bucket/prefix', 'pg_dump'],
    ['MB_BACKUP_DIR', '/backups', 'pg_dump'],
  ])('a start on PostgreSQL with %s=%s is refused', (name, value, reason) => {
    const settings = { [name]: value }
    const keys = { MB_SESSION_SECRET: 'a'.repeat(64), MB_ENCRYPTION_KEY: 'b'.repeat(64) }
    const load = () => loadConfig({ MB_DATABASE_URL: migrated.url, ...keys, ...settings })
    expect(load).toThrow(reason)
  })
})

/** PGlite has one role, which it asks for no password, and one database. */
describe.skipIf(!hasPostgres())('a server of its own', () => {
  test('a role that may not create the extension is refused until it is there', async () => {
    await using database = await startPostgres('none')
    const plain = await asPlainRole(database.url)
    const { findings } = await examineDatabase(plain, undefined)
    expect(findings[0]).toMatchObject({
      level: 'fail',
      mend: expect.stringContaining('CREATE EXT'),
    })
    await expect(start(plain)).rejects.toThrow('its role may not create')
    await askPostgres(database.url, 'CREATE EXTENSION vector')
    expect(await start(plain)).toEqual(MIGRATED)
  })

  test('a database that answers the first statements with errors ends the start', async () => {
    await using database = await startPostgres('all')
    const plain = await asPlainRole(database.url)
    await askPostgres(database.url, 'REVOKE CREATE ON SCHEMA public FROM PUBLIC')
    const role = new URL(plain).username
    const sentence = async () => {
      using folder = tempFolder()
      const env = {
        MB_DATABASE_URL: plain,
        MB_SESSION_SECRET: 'a'.repeat(64),
        MB_ENCRYPTION_KEY: 'b'.repeat(64),
      }
      const { code, err } = await command(['serve'], folder.path, env)
      expect(code).toBe(1)
      return err
    }
    // Before the migrations, and after them.
    const denied = 'permission denied for table'
    expect(await sentence()).toBe(
      `moonbase: MB_DATABASE_URL ${plain} answers with an error: ${denied} migration\n`,
    )
    await askPostgres(database.url, `GRANT ALL ON migration TO ${role}`)
    expect(await sentence()).toBe(
      'moonbase: the database of MB_DATABASE_URL answers with an error: ' +
        `${denied} system_setting\n`,
    )
  })

  test('a pooler that refuses is named, also where the direct address answers', async () => {
    let now = 0
    const sleep = async (ms: number) => {
      now += ms
    }
    const url = changed(migrated.url, (address) => {
      address.port = String(freePort())
    })
    const parts = { clock: { ...clock, steady: () => now, sleep }, url, directUrl: migrated.url }
    const opening = openPostgresStorage({ ...parts, docsMax: 50, onAsked: undefined })
    await expect(opening).rejects.toThrow(/^cannot be reached: .*ECONNREFUSED/)
    expect(now).toBe(30_000)
  })

  test('a PostgreSQL that is too old is refused', async () => {
    await using database = await startPostgres('none')
    await askPostgres(
      database.url,
      `CREATE SCHEMA old;
      CREATE FUNCTION old.current_setting(text) RETURNS text LANGUAGE sql AS $$ SELECT '120022' $$`,
    )
    const url = `${database.url}?search_path=old,pg_catalog,public`
    await expect(start(url)).rejects.toThrow('older than PostgreSQL 13')
    const [finding] = (await examineDatabase(url, undefined)).findings
    expect(finding).toMatchObject({ level: 'fail', mend: 'use PostgreSQL 13 or later' })
  })

  test('a PostgreSQL that knows no such user or database ends the start at once', async () => {
    const stranger = changed(migrated.url, (address) => {
      address.username = 'nobody'
      address.password = 'hush-hush'
    })
    const elsewhere = changed(migrated.url, (address) => {
      address.pathname = '/nowhere'
    })
    for (const [url, mend] of [
      [stranger, 'check user and password in MB_DATABASE_URL'],
      [elsewhere, 'create that database, or name another one in MB_DATABASE_URL'],
    ] as const) {
      await expect(start(url)).rejects.toThrow('refuses us')
      const [finding] = (await examineDatabase(url, undefined)).findings
      expect(finding).toMatchObject({ level: 'fail', mend })
      expect(JSON.stringify(finding)).not.toContain('hush')
    }
  })

  test('a PostgreSQL is believed by its certificate, where the address wants it', async () => {
    const certificate = await postgresCertificate()
    if (certificate === null) return
    const at = (host: string, query: string) =>
      changed(`${migrated.url}?${query}`, (address) => {
        address.hostname = host
      })
    const strict = `sslmode=verify-full&sslrootcert=${certificate}`
    expect(await start(at('127.0.0.1', 'sslmode=require'))).toEqual([])
    expect(await start(at('localhost', strict))).toEqual([])
    for (const [host, query, reason] of [
      ['localhost', 'sslmode=verify-full', /certificate/],
      ['127.0.0.1', strict, /certificate/],
      ['localhost', 'sslrootcert=/no/such/file', 'cannot be read'],
    ] as const) {
      await expect(start(at(host, query))).rejects.toThrow(reason)
      const [finding] = (await examineDatabase(at(host, query), undefined)).findings
      expect(finding?.mend).toContain('sslrootcert in MB_DATABASE_URL')
    }
  })
})

describe('the doctor', () => {
  test('the doctor finds nothing wrong with a database that works', async () => {
    const { findings } = await examineDatabase(migrated.url, migrated.url)
    expect(findings.map(({ name, level }) => [name, level])).toEqual([
      ['Database', 'ok'],
      ['Connections', hasPostgres() ? 'ok' : expect.any(String)],
      ['Database clock', 'ok'],
      ['Database, direct', 'ok'],
    ])
    expect(findings[0]?.text).toMatch(/^PostgreSQL \d+\..*, vector \d.*, [\d.]+ ms$/)
  })

  test('the doctor leaves an empty database empty', async () => {
    const [finding] = (await examineDatabase(empty.url, undefined)).findings
    expect(finding?.level).toBe('ok')
    expect(finding?.text).toEndWith(', empty')
    if (!hasPostgres()) return
    expect(finding?.text).toContain('vector made at the first start')
    expect(
      await askPostgres(empty.url, `SELECT 1 FROM pg_extension WHERE extname = 'vector'`),
    ).toEqual(expect.objectContaining({ length: 0 }))
  })

  test('the doctor reports clocks that differ, and a database that is away', async () => {
    const late = { ...clock, now: () => clock.now() - 90_000 }
    const findings = (await examineDatabase(migrated.url, undefined, late)).findings
    expect(findings[2]).toMatchObject({ level: 'warn', text: '90.0 s ahead' })
    const away = `postgres://me:hush-hush@127.0.0.1:${freePort()}/moonbase`
    const [finding] = (await examineDatabase(away, undefined)).findings
    expect(finding).toMatchObject({
      level: 'fail',
      mend: 'check MB_DATABASE_URL, and that it runs',
    })
    expect(JSON.stringify(finding)).not.toContain('hush')
  })

  test('the doctor judges the figures of a database', () => {
    const fine = {
      ...{ version: '17.2', number: 170_002, vector: '0.8.0', vectorOffered: '0.8.0' },
      ...{ vectorCreatable: false, connections: 3, connectionsMax: 100 },
      ...{ aheadMs: -10, answerMs: 0.4, migrations: MIGRATED, sealed: [] },
    }
    const levels = (change: Partial<typeof fine> | { vector: null; vectorOffered: null }) =>
      judge({ ...fine, ...change }).map(({ level }) => level)
    expect(levels({})).toEqual(['ok', 'ok', 'ok'])
    expect(levels({ number: 120_022 })).toEqual(['fail', 'ok', 'ok'])
    expect(levels({ vector: null, vectorOffered: null })).toEqual(['fail', 'ok', 'ok'])
    expect(levels({ vector: '0.6.2' })).toEqual(['fail', 'ok', 'ok'])
    expect(levels({ migrations: [...MIGRATED, 'a', 'b'] })).toEqual(['fail', 'ok', 'ok'])
    expect(levels({ answerMs: 60 })).toEqual(['warn', 'ok', 'ok'])
    expect(levels({ connections: 90 })).toEqual(['ok', 'warn', 'ok'])
    expect(levels({ aheadMs: -5_000 })).toEqual(['ok', 'ok', 'warn'])
  })
})
