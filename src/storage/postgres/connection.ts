import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import postgres from 'postgres'
import type { Clock } from '../../core/clock.ts'
import { DatabaseAway } from '../../core/errors.ts'
import type { Statement, Value } from '../db.ts'
import { RESULT_TYPES, storable, typeOf } from './dialect.ts'
import { faultOf } from './faults.ts'

/** The answer to a statement. */
export interface Answer {
  readonly rows: readonly unknown[]
  readonly changes: number
}

/** What became of statements that were sent together. */
export interface Settled {
  readonly answers: Answer[]
  readonly fault: Error | null
}

export interface Connection {
  /**
   * Sends the statements at once, in order, and waits for all answers. Gives those before the first
   * that failed, and its fault; the ones after it run all the same, unless a transaction is open.
   * Rejects with `DatabaseAway` when the connection was lost or the time was up; it is of no use
   * then.
   */
  settle(statements: readonly Statement[], msMax: number): Promise<Settled>
  /** As `settle`; rejects with the fault of a statement, too. */
  send(statements: readonly Statement[], msMax: number): Promise<Answer[]>
  /** False once the connection was lost. */
  isOpen(): boolean
  /** Says goodbye, or hangs up where that takes long. */
  close(): Promise<void>
}

export interface ConnectionOptions {
  readonly url: string
  readonly clock: Clock
  /** Hears of each notification of the channels that this connection listens to. */
  readonly onNotify?: (channel: string, payload: string) => void
  readonly onLost?: () => void
}

const lost = () => new DatabaseAway('lost', 'the connection was lost')
const tooLate = () => new DatabaseAway('timeout', 'the database did not answer in time')

const CONNECT_MS_MAX = 5_000
const GOODBYE_S = 1

/**
 * One connection with one life. The driver would take up a lost one again with what was left of
 * the old one: half a message, or a ROLLBACK that meets the transaction of somebody else, or a
 * write to no socket, which throws where nobody can catch it. So each connection has a driver of
 * its own, whose second socket is refused.
 */
export function openConnection(options: ConnectionOptions): Connection {
  const { url, clock, onNotify, onLost } = options
  const line = createSocketOnce(clock)
  let open = true
  const { address, ca } = withCertificates(url)
  const driver = postgres(address, {
    ...(ca === null ? {} : { ssl: { ca } }),
    max: 1,
    prepare: false,
    fetch_types: false,
    connect_timeout: 0,
    idle_timeout: 0,
    max_lifetime: 0,
    connection: { application_name: 'moonbase' },
    types: RESULT_TYPES,
    onnotice: () => {},
    onclose: () => hangUp(lost()),
    ...(onNotify ? { onnotify: onNotify } : {}),
    socket: line.open,
  } as Options)

  /** Those that wait for answers. The driver forgets what it had not sent yet, without a word. */
  const waiting = new Set<(fault: DatabaseAway) => void>()

  function hangUp(fault: DatabaseAway) {
    if (!open) return
    open = false
    line.destroy()
    void driver.end({ timeout: 0 }).catch(() => {})
    for (const fail of waiting) fail(fault)
    onLost?.()
  }

  async function ask(statement: Statement): Promise<Answer> {
    try {
      return await execute(driver, statement)
    } catch (error) {
      const fault = faultOf(error)
      if (fault instanceof DatabaseAway) hangUp(fault)
      throw fault
    }
  }

  async function settle(statements: readonly Statement[], msMax: number): Promise<Settled> {
    if (!open) throw lost()
    const late = clock.after(msMax, () => hangUp(tooLate()))
    const { promise: gone, reject } = Promise.withResolvers<never>()
    waiting.add(reject)
    try {
      const settled = await Promise.race([Promise.allSettled(statements.map(ask)), gone])
      const answers: Answer[] = []
      for (const one of settled) {
        if (one.status === 'rejected') return { answers, fault: one.reason as Error }
        answers.push(one.value)
      }
      return { answers, fault: null }
    } finally {
      waiting.delete(reject)
      late()
    }
  }

  return {
    isOpen: () => open,
    settle,
    async send(statements, msMax) {
      const { answers, fault } = await settle(statements, msMax)
      if (fault !== null) throw fault
      return answers
    },
    async close() {
      open = false
      await driver.end({ timeout: GOODBYE_S }).catch(() => {})
      line.destroy()
    },
  }
}

/** Of an address whose `sslrootcert` cannot be read. */
const NO_CERTIFICATES = 'sslrootcert'
const TLS = /^(?:ERR_TLS|ERR_SSL|CERT_|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|sslrootcert$)/

/** What of its address a server or its certificate refused; null: it is away, or not yet there. */
export function refusalOf({ code }: DatabaseAway): 'user' | 'database' | 'certificate' | null {
  if (code.startsWith('28')) return 'user'
  if (code === '3D000') return 'database'
  return TLS.test(code) ? 'certificate' : null
}

/**
 * `sslrootcert=FILE`, as all other clients of PostgreSQL take it: the authorities that may have
 * signed the server's certificate. The driver knows `system` alone.
 */
function withCertificates(url: string) {
  const address = new URL(url)
  const file = address.searchParams.get('sslrootcert')
  if (file === null || file === 'system') return { address: url, ca: null }
  address.searchParams.delete('sslrootcert')
  try {
    return { address: address.href, ca: readFileSync(file, 'utf8') }
  } catch {
    throw new DatabaseAway(NO_CERTIFICATES, `the file of sslrootcert cannot be read: ${file}`)
  }
}

type Driver = ReturnType<typeof postgres>
/** The driver takes `socket` and `onnotify`, which its types do not name. */
type Options = NonNullable<Parameters<typeof postgres>[1]>

async function execute(driver: Driver, { sql, args }: Statement): Promise<Answer> {
  const query = driver.unsafe(sql, args.map((value) => parameterOf(driver, value)) as never[])
  // Every value has a type, so the server need not be asked for them before each statement: with
  // this the driver sends all at once, and statements that follow need not wait.
  Object.defineProperty(query, 'describeFirst', { get: () => false, set() {} })
  const rows = await query
  return { rows: [...rows], changes: rows.count ?? 0 }
}

const parameterOf = (driver: Driver, value: Value) =>
  driver.typed(storable(value) as never, typeOf(value))

interface Address {
  readonly host: readonly string[]
  readonly port: readonly number[]
}

/** Opens the first socket that it is asked for, and no other. */
function createSocketOnce(clock: Clock) {
  let socket: Socket | null = null
  let used = false

  async function open({ host: [host = ''], port: [port = 0] }: Address): Promise<Socket> {
    if (used) throw lost()
    used = true
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const opened = connect({ host, port, noDelay: true })
    socket = opened
    const late = clock.after(CONNECT_MS_MAX, () =>
      reject(new DatabaseAway('timeout', 'the database did not accept a connection')),
    )
    opened.once('connect', resolve)
    opened.once('error', reject)
    opened.once('close', () => reject(lost()))
    try {
      await promise
    } catch (error) {
      opened.destroy()
      throw error
    } finally {
      late()
    }
    opened.removeAllListeners()
    // The driver reads the name that a certificate must have from here.
    return Object.assign(opened, { host })
  }

  return { open, destroy: () => socket?.destroy() }
}
