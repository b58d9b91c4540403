import { type Clock, systemClock } from '../../core/clock.ts'
import { DatabaseAway } from '../../core/errors.ts'
import { ageOfServer } from '../../storage/before-first-release.ts'
import { refusalOf } from '../../storage/postgres/address.ts'
import { inspectPostgres, type PostgresInspection } from '../../storage/postgres/inspect.ts'
import { isOldVector, VECTOR_MIN, VERSION_MIN } from '../../storage/postgres/migrate.ts'
import { MIGRATIONS } from '../../storage/postgres/migrations/index.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** Connections of one server: its pool, and a direct one. */
const CONNECTIONS = 21
/** A slower answer is reported, because a turn makes several queries one after another. */
const ANSWER_MS_GOOD = 20
/** A greater difference of the clocks is reported, because expiry compares them. */
const AHEAD_MS_GOOD = 2_000

export interface DatabaseState {
  readonly findings: readonly Finding[]
  /** Sealed settings of the console for the whole server. */
  readonly sealed: PostgresInspection['sealed']
}

/** Examines a database without changing it. The findings contain neither address nor password. */
export async function examineDatabase(
  url: string,
  directUrl: string | undefined,
  clock: Clock = systemClock(),
): Promise<DatabaseState> {
  try {
    const seen = await inspectPostgres(url, clock)
    const direct = directUrl === undefined ? [] : [await checkDirect(directUrl, clock)]
    return {
      findings: [...judge(seen), ...direct],
      sealed: seen.sealed,
    }
  } catch (error) {
    return { findings: [unreachable('Database', 'MB_DATABASE_URL', error)], sealed: [] }
  }
}

/** The findings about an inspected database. */
export const judge = (seen: PostgresInspection): Finding[] => [
  checkVersion(seen),
  checkConnections(seen),
  checkClocks(seen),
]

async function checkDirect(url: string, clock: Clock): Promise<Finding> {
  const name = 'Database, direct'
  try {
    const { answerMs } = await inspectPostgres(url, clock)
    return ok(name, `answers in ${answerMs.toFixed(1)} ms`)
  } catch (error) {
    return unreachable(name, 'MB_DATABASE_DIRECT_URL', error)
  }
}

function unreachable(name: string, setting: string, error: unknown): Finding {
  if (!(error instanceof DatabaseAway)) throw error
  const refused = refusalOf(error)
  const text = `${refused === null ? 'does not answer' : 'refuses us'}: ${error.message}`
  return fail(name, text, MENDS[refused ?? 'away'](setting))
}

const MENDS = {
  user: (setting: string) => `check user and password in ${setting}`,
  database: (setting: string) => `create that database, or name another one in ${setting}`,
  certificate: (setting: string) => `check host, sslmode and sslrootcert in ${setting}`,
  away: (setting: string) => `check ${setting}, and that it runs`,
}

function checkVersion(seen: PostgresInspection): Finding {
  const name = 'Database'
  const { version, number, vector, vectorOffered, migrations, answerMs } = seen
  const known = MIGRATIONS.map((one) => one.name)
  const isEarlier = ageOfServer(migrations) === 'before'
  const unknown = isEarlier ? [] : migrations.filter((one) => !known.includes(one))
  if (number < VERSION_MIN) {
    return fail(name, `PostgreSQL ${version} is too old`, 'use PostgreSQL 13 or later')
  }
  if (vector === null && vectorOffered === null) {
    return fail(name, 'its server lacks the extension vector', 'install pgvector on that server')
  }
  if (vector === null && !seen.vectorCreatable) {
    const text = 'the extension vector is missing, which this role may not create'
    return fail(name, text, 'as an administrator run CREATE EXTENSION vector in that database')
  }
  if (vector !== null && isOldVector(vector)) {
    const text = `version ${vector} of its extension vector is too old`
    return fail(name, text, `install ${VECTOR_MIN.join('.')}, run ALTER EXTENSION vector UPDATE`)
  }
  if (unknown.length > 1) {
    return fail(name, `written by a newer Moonbase (${unknown[0]})`, 'use that version')
  }
  const pending = isEarlier ? 1 : known.filter((one) => !migrations.includes(one)).length
  const age = migrations.length === 0 ? 'empty' : pending > 0 ? 'upgraded at the next start' : ''
  const extension = vector === null ? 'vector made at the first start' : `vector ${vector}`
  const about = [`PostgreSQL ${version}`, extension, `${answerMs.toFixed(1)} ms`, age]
  const text = about.filter(Boolean).join(', ')
  return answerMs > ANSWER_MS_GOOD
    ? warn(name, text, 'run Moonbase near its database; each turn asks it several times')
    : ok(name, text)
}

function checkConnections({ connections, connectionsMax }: PostgresInspection): Finding {
  const text = `${connections} of ${connectionsMax} in use`
  const name = 'Connections'
  return connectionsMax - connections < CONNECTIONS
    ? warn(name, text, 'raise max_connections, or put a pooler in front: a server takes up to 20')
    : ok(name, text)
}

function checkClocks({ aheadMs }: PostgresInspection): Finding {
  const name = 'Database clock'
  const text = `${(Math.abs(aheadMs) / 1000).toFixed(1)} s ${aheadMs < 0 ? 'behind' : 'ahead'}`
  return Math.abs(aheadMs) > AHEAD_MS_GOOD
    ? warn(name, text, 'set the clocks of both machines by NTP')
    : ok(name, text)
}
