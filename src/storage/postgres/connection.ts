import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import postgres from 'postgres'
import type { Clock } from '../../core/clock.ts'
import { DatabaseAway } from '../../core/errors.ts'
import type { Statement, Value } from '../db.ts'
import { RESULT_TYPES, storable, typeOf } from './dialect.ts'
import { faultOf } from './faults.ts'

/** The answer to a statement. */
export interface StatementResult {
  readonly rows: readonly unknown[]
  readonly changes: number
}

/** The result of statements that were sent together. */
export interface Settled {
  readonly answers: StatementResult[]
  readonly fault: Error | null
}

export interface Connection {
  /**
   * Sends all statements without waiting in between, and collects the answers. Returns the answers
   * before the first failure, and its fault; statements after it still run, unless a transaction is
   * open. Rejects with `DatabaseAway` when the connection was lost or `msMax` has passed; the
   * connection is closed then.
   */
  settle(statements: readonly Statement[], msMax: number): Promise<Settled>
  /** As `settle`, and rejects with the fault of a statement. */
  send(statements: readonly Statement[], msMax: number): Promise<StatementResult[]>
  /** False once the connection was lost. */
  isOpen(): boolean
  /** Closes in an orderly way, or cuts the connection when that takes longer than a second. */
  close(): Promise<void>
}

export interface ConnectionOptions {
  readonly url: string
  readonly clock: Clock
  /** Called with each notification of the channels that this connection listens to. */
  readonly onNotify?: (channel: string, payload: string) => void
  readonly onLost?: () => void
}

const lost = () => new DatabaseAway('lost', 'the connection was lost')
const tooLate = () => new DatabaseAway('timeout', 'the database did not answer in time')

const CONNECT_MS_MAX = 5_000
const GOODBYE_S = 1

/**
 * A connection that is never reconnected. After a loss the driver would reconnect by itself and go
 * on with what was left: half a message, a ROLLBACK in another caller's transaction, or a write to
 * a closed socket, which throws where nothing can catch it. So each connection has its own driver,
 * and a second socket is refused.
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

  /** Rejects the calls that wait for answers: the driver drops unsent statements silently. */
  const waiting = new Set<(fault: DatabaseAway) => void>()

  function hangUp(fault: DatabaseAway) {
    if (!open) return
    open = false
    line.destroy()
    void driver.end({ timeout: 0 }).catch(() => {})
    for (const fail of waiting) fail(fault)
    onLost?.()
  }

  async function ask(statement: Statement): Promise<StatementResult> {
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
      const answers: StatementResult[] = []
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

/** The fault's code when the file of `sslrootcert` cannot be read. */
const NO_CERTIFICATES = 'sslrootcert'
const TLS = /^(?:ERR_TLS|ERR_SSL|CERT_|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|sslrootcert$)/

/** Which part of the address was refused; null when the server is away or still starting. */
export function refusalOf({ code }: DatabaseAway): 'user' | 'database' | 'certificate' | null {
  if (code.startsWith('28')) return 'user'
  if (code === '3D000') return 'database'
  return TLS.test(code) ? 'certificate' : null
}

/**
 * Supports `sslrootcert=FILE` as libpq does: the authorities that may have signed the server's
 * certificate. The driver itself knows only `sslrootcert=system`.
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
/** The driver accepts `socket` and `onnotify`, which its types do not name. */
type Options = NonNullable<Parameters<typeof postgres>[1]>

async function execute(driver: Driver, { sql, args }: Statement): Promise<StatementResult> {
  const query = driver.unsafe(sql, args.map((value) => parameterOf(driver, value)) as never[])
  // Every value carries its type, so the driver need not ask the server for the types first.
  // Without that round trip it sends statements back to back.
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
    // The driver checks the certificate against this name.
    return Object.assign(opened, { host })
  }

  return { open, destroy: () => socket?.destroy() }
}
