import { existsSync, mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { systemClock } from '../../src/core/clock.ts'
import { migratePostgres } from '../../src/storage/postgres/migrate.ts'
import { MIGRATIONS } from '../../src/storage/postgres/migrations/index.ts'

export interface TestPostgres extends AsyncDisposable {
  /** Of an empty database of its own. */
  readonly url: string
}

/** Where Debian and Ubuntu keep the programs of a server, the newest version first. */
const PLACES = '/usr/lib/postgresql'

export function programs(): string | null {
  if (!existsSync(PLACES)) return null
  const versions = readdirSync(PLACES).sort((a, b) => Number(b) - Number(a))
  const folders = versions.map((version) => join(PLACES, version, 'bin'))
  return folders.find((folder) => existsSync(join(folder, 'postgres'))) ?? null
}

/**
 * Makes a cluster, runs it until standard input ends, which it does with this process, and removes
 * it. Nothing is flushed to the disk: it need not outlive the machine.
 */
const SCRIPT = `
  cd "$1"
  "$0/initdb" -D "$1/data" -U moonbase -A trust -E UTF8 --locale=C --no-sync >"$1/initdb.log" 2>&1
  "$0/postgres" -D "$1/data" -p "$2" -c listen_addresses=127.0.0.1 -c unix_socket_directories= \
    -c fsync=off -c full_page_writes=off -c max_connections=300 >"$1/server.log" 2>&1 &
  server=$!
  cat >/dev/null
  kill -QUIT $server
  wait $server
  rm -rf "$1"`

/** PostgreSQL refuses to run as root; Debian's package brings a user for it. */
export const asOrdinaryUser = (argv: readonly string[]) =>
  process.getuid?.() === 0
    ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', ...argv]
    : [...argv]

export function freePort(): number {
  using server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  return server.port
}

let cluster: Promise<string> | null = null
let made = 0

async function startCluster(bin: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'moonbase-postgres-'))
  if (process.getuid?.() === 0) Bun.spawnSync(['chown', 'postgres', folder])
  const port = freePort()
  const argv = asOrdinaryUser(['sh', '-c', SCRIPT, bin, folder, String(port)])
  const child = Bun.spawn(argv, { stdin: 'pipe', stdout: 'ignore', stderr: 'inherit' })
  child.unref()
  const address = `postgres://moonbase@127.0.0.1:${port}`
  for (;;) {
    const answered = await command(address, 'SELECT 1').catch(() => null)
    if (answered !== null) return address
    if (child.exitCode !== null) throw new Error('PostgreSQL did not start')
    await Bun.sleep(50)
  }
}

async function command(address: string, text: string) {
  const driver = postgres(`${address}/postgres`, { max: 1, connect_timeout: 5, onnotice() {} })
  try {
    return await driver.unsafe(text)
  } finally {
    await driver.end({ timeout: 1 })
  }
}

/** Whether this machine has the programs of a server. */
export const hasPostgres = (): boolean => programs() !== null

/** The server that all tests of this process share. */
function address(): Promise<string> {
  const bin = programs()
  if (bin === null) throw new Error('this machine has no PostgreSQL')
  cluster ??= startCluster(bin)
  return cluster
}

/** A database that has all tables; a new one is made from it in half the time. */
let template: Promise<string> | null = null

async function migrated(): Promise<string> {
  const name = 'migrated'
  const at = await address()
  await command(at, `CREATE DATABASE ${name}`)
  const url = `${at}/${name}`
  await migratePostgres({ url, clock: systemClock(), migrations: MIGRATIONS })
  return name
}

/** A database of its own; without any table, or with all. */
export async function startPostgres(tables: 'none' | 'all' = 'none'): Promise<TestPostgres> {
  const at = await address()
  if (tables === 'all') template ??= migrated()
  made += 1
  const name = `test_${made}`
  const from = tables === 'all' ? ` TEMPLATE ${await template}` : ''
  await command(at, `CREATE DATABASE ${name}${from}`)
  return {
    url: `${at}/${name}`,
    async [Symbol.asyncDispose]() {
      await command(at, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    },
  }
}

/** What a server needs beside the database: all servers of one have the same. */
const SHARED = { MB_SESSION_SECRET: 'a'.repeat(64), MB_ENCRYPTION_KEY: 'b'.repeat(64) }

const ofFolders = new Map<string, Promise<TestPostgres>>()

/** Settings of a server on PostgreSQL. Servers of one data folder share a database. */
export async function postgresSettings(dataDir: string) {
  const known = ofFolders.get(dataDir) ?? startPostgres('all')
  ofFolders.set(dataDir, known)
  return { ...SHARED, MB_DATABASE_URL: (await known).url }
}

/** Drops the database of a data folder, if it has one. */
export async function dropPostgres(dataDir: string): Promise<void> {
  await (await ofFolders.get(dataDir))?.[Symbol.asyncDispose]()
  ofFolders.delete(dataDir)
}
