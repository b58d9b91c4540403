import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../../src/core/clock.ts'
import { migratePostgres } from '../../src/storage/postgres/migrate.ts'
import { MIGRATIONS } from '../../src/storage/postgres/migrations/index.ts'
import { selfSigned } from './certificate.ts'
import { askPostgres } from './postgres-client.ts'
import { SHARED_SECRETS } from './sharing.ts'

export interface TestPostgres extends AsyncDisposable {
  /** Of a database of its own. */
  readonly url: string
}

/** Where Debian and Ubuntu keep the programs of a server, and what extensions it has. */
const PROGRAMS = '/usr/lib/postgresql'
const EXTENSIONS = '/usr/share/postgresql'

/** The folder of the newest server of this machine that has pgvector. */
export function programs(): string | null {
  if (process.env.MOONBASE_TEST_PGLITE === '1' || !existsSync(PROGRAMS)) return null
  const usable = readdirSync(PROGRAMS)
    .sort((a, b) => Number(b) - Number(a))
    .find(
      (version) =>
        existsSync(join(PROGRAMS, version, 'bin', 'postgres')) &&
        existsSync(join(EXTENSIONS, version, 'extension', 'vector.control')),
    )
  return usable === undefined ? null : join(PROGRAMS, usable, 'bin')
}

/**
 * Makes a cluster, runs it until standard input ends, which it does with this process, and removes
 * it. Nothing is flushed to the disk: it need not outlive the machine. Ends by itself when the
 * server does, such as one whose port is in use.
 */
const SCRIPT = `
  cd "$1"
  exec 3<&0
  "$0/initdb" -D "$1/data" -U moonbase -A trust -E UTF8 --locale=C --no-sync >"$1/initdb.log" 2>&1
  "$0/postgres" -D "$1/data" -p "$2" -c listen_addresses=127.0.0.1 -c unix_socket_directories= \
    -c fsync=off -c full_page_writes=off -c max_connections=300 \
    -c ssl=on -c ssl_cert_file="$1/server.crt" -c ssl_key_file="$1/server.key" \
    >"$1/server.log" 2>&1 3<&- &
  server=$!
  { cat <&3; kill -QUIT $server; } >/dev/null 2>&1 &
  wait $server
  rm -rf "$1"`

/** PostgreSQL refuses to run as root; Debian's package brings a user for it. */
export const asOrdinaryUser = (argv: readonly string[]) =>
  process.getuid?.() === 0
    ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', ...argv]
    : [...argv]

function clusterFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'moonbase-postgres-'))
  const { cert, key } = selfSigned('localhost')
  writeFileSync(join(folder, 'server.crt'), cert)
  writeFileSync(join(folder, 'server.key'), key, { mode: 0o600 })
  if (process.getuid?.() === 0) Bun.spawnSync(['chown', '-R', 'postgres', folder])
  return folder
}

const clusterCommand = (bin: string, folder: string, port: number): string[] =>
  asOrdinaryUser(['sh', '-c', SCRIPT, bin, folder, String(port)])

const LITE = fileURLToPath(new URL('pglite.ts', import.meta.url))

export function freePort(): number {
  using server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  return server.port
}

interface Server {
  readonly address: string
  /** Whether it has databases; PGlite has only schemas, which are made when they are used. */
  readonly isWhole: boolean
  /** The file of its certificate for `localhost`; null without TLS. */
  readonly certificate: string | null
}

/**
 * The server to use, as an administrator, instead of one that the tests start:
 * `postgres://moonbase@127.0.0.1:5432`; and a pooler in front of it, which serves all its
 * databases.
 */
const GIVEN = process.env.MOONBASE_TEST_POSTGRES
const POOLER = process.env.MOONBASE_TEST_POOLER ?? GIVEN

/** The given one, else one that ends with this process: PostgreSQL, or PGlite without it. */
async function startServer(): Promise<Server> {
  if (GIVEN) return { address: GIVEN, isWhole: true, certificate: null }
  const bin = programs()
  for (let tries = 0; tries < 5; tries++) {
    const started = bin ? await startCluster(bin) : await startLite()
    if (started) return started
  }
  throw new Error('PostgreSQL did not start')
}

const addressOf = (port: number) => `postgres://moonbase@127.0.0.1:${port}`
const begin = (argv: string[]) => {
  const child = Bun.spawn(argv, { stdin: 'pipe', stdout: 'ignore', stderr: 'inherit' })
  child.unref()
  return child
}

/**
 * Null when it ended, such as when somebody else took the port meanwhile. Whoever answers there
 * need not be the server, and may never answer: its log is asked.
 */
async function startCluster(bin: string): Promise<Server | null> {
  const folder = clusterFolder()
  const port = freePort()
  const child = begin(clusterCommand(bin, folder, port))
  const log = join(folder, 'server.log')
  while (child.exitCode === null) {
    if (existsSync(log) && readFileSync(log, 'utf8').includes('ready to accept connections')) {
      const certificate = join(folder, 'server.crt')
      return { address: addressOf(port), isWhole: true, certificate }
    }
    await Bun.sleep(50)
  }
  return null
}

/** The one that npm brings. */
async function startLite(): Promise<Server | null> {
  const port = freePort()
  const child = begin([process.execPath, LITE, String(port)])
  while (child.exitCode === null) {
    const answered = await command(addressOf(port), 'SELECT 1').catch(() => null)
    if (answered !== null) return { address: addressOf(port), isWhole: false, certificate: null }
    await Bun.sleep(50)
  }
  return null
}

const command = (address: string, text: string) => askPostgres(`${address}/postgres`, text)

/** Whether this machine has the programs of a server. */
export const hasPostgres = (): boolean => Boolean(GIVEN) || programs() !== null

/** The file of the server's certificate for `localhost`; null without TLS. */
export async function postgresCertificate(): Promise<string | null> {
  server ??= startServer()
  return (await server).certificate
}

/** The server that all tests of this process share. */
let server: Promise<Server> | null = null
let made = 0

/** A database with all tables; copying it takes half the time of migrating a new one. */
let template: Promise<string> | null = null

async function migrated(address: string): Promise<string> {
  const name = `migrated_${process.pid}`
  await command(address, `CREATE DATABASE ${name}`)
  const url = `${address}/${name}`
  await migratePostgres({ url, clock: systemClock(), migrations: MIGRATIONS })
  return name
}

/** A database of its own; without any table, or as a server has left it. */
export async function startPostgres(tables: 'none' | 'all' = 'none'): Promise<TestPostgres> {
  server ??= startServer()
  const { address, isWhole } = await server
  made += 1
  const name = `test_${process.pid}_${made}`
  const url = `${POOLER ?? address}/${name}`
  if (!isWhole) {
    if (tables === 'all') {
      await migratePostgres({ url, clock: systemClock(), migrations: MIGRATIONS })
    }
    const drop = `DROP SCHEMA IF EXISTS ${name} CASCADE`
    return { url, [Symbol.asyncDispose]: async () => void (await command(address, drop)) }
  }
  if (tables === 'all') template ??= migrated(address)
  const from = tables === 'all' ? ` TEMPLATE ${await template}` : ''
  await command(address, `CREATE DATABASE ${name}${from}`)
  const drop = `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`
  return { url, [Symbol.asyncDispose]: async () => void (await command(address, drop)) }
}

const ofFolders = new Map<string, Promise<TestPostgres>>()

/** Settings of a server on PostgreSQL. Servers of one data folder share a database. */
export async function postgresSettings(dataDir: string) {
  const known = ofFolders.get(dataDir) ?? startPostgres('all')
  ofFolders.set(dataDir, known)
  return { ...SHARED_SECRETS, MB_DATABASE_URL: (await known).url }
}

/** Drops the database of a data folder, if it has one. */
export async function dropPostgres(dataDir: string): Promise<void> {
  await (await ofFolders.get(dataDir))?.[Symbol.asyncDispose]()
  ofFolders.delete(dataDir)
}
