import { Client, type ClientConfig, type QueryResult } from 'pg'
import type { Clock } from '../../core/clock.ts'
import { DatabaseAway } from '../../core/errors.ts'
import { type Statement, storable } from '../db.ts'
import { parseAddress } from './address.ts'
import { createCancel } from './cancel.ts'
import { RESULT_TYPES } from './dialect.ts'
import { faultOf, isSlow } from './faults.ts'

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
   * open. Rejects with `DatabaseAway` when the connection was lost, or when `msMax` has passed or
   * the signal aborted before the answers came: the server is then asked to stop, and the
   * connection is closed.
   */
  settle(statements: readonly Statement[], msMax: number, signal?: AbortSignal): Promise<Settled>
  /** As `settle`, and rejects with the fault of a statement. */
  send(
    statements: readonly Statement[],
    msMax: number,
    signal?: AbortSignal,
  ): Promise<StatementResult[]>
  /** False once the connection was lost. */
  isOpen(): boolean
  /** Closes in an orderly way, or cuts the connection when that takes longer than a second. */
  close(): Promise<void>
}

export interface ConnectionOptions {
  readonly url: string
  readonly clock: Clock
  /** The server itself ends a statement after this time, also when nobody asks it to. */
  readonly statementMsMax?: number
  /** Called with each notification of the channels that this connection listens to. */
  readonly onNotify?: (channel: string, payload: string) => void
  readonly onLost?: () => void
}

const lost = () => new DatabaseAway('lost', 'the connection was lost')
const tooLate = () => new DatabaseAway('timeout', 'the database did not answer in time')
const givenUp = () => new DatabaseAway('aborted', 'nobody waits for the answer')

const CONNECT_MS_MAX = 5_000
const GOODBYE_MS = 1_000
/** How long a statement that was asked to stop has for it. */
const STOP_MS_MAX = 2_000
/** How often a server that works on a statement looks whether we are still there. */
const THERE_MS = 5_000

/** A connection that is never reconnected: what waits on a lost one fails at once. */
export function openConnection(options: ConnectionOptions): Connection {
  const { clock } = options
  const session = createSession(options)

  async function settle(statements: readonly Statement[], msMax: number, signal?: AbortSignal) {
    signal?.throwIfAborted()
    if (!session.isOpen()) throw lost()
    let reason: DatabaseAway | null = null
    const giveUp = (fault: DatabaseAway) => {
      reason ??= fault
      session.stop(fault)
    }
    const late = clock.after(msMax, () => giveUp(tooLate()))
    const leave = () => giveUp(givenUp())
    signal?.addEventListener('abort', leave, { once: true })
    try {
      const settled = await session.orLost(session.answersTo(statements))
      if (settled.fault !== null && reason !== null) throw reason
      return settled
    } finally {
      signal?.removeEventListener('abort', leave)
      late()
      // The request to stop may still be on its way, and would meet the next statement.
      if (reason !== null) session.hangUp(reason)
    }
  }

  return {
    isOpen: session.isOpen,
    settle,
    async send(statements, msMax, signal) {
      const { answers, fault } = await settle(statements, msMax, signal)
      if (fault !== null) throw fault
      return answers
    },
    close: session.close,
  }
}

/** The one life of the driver's client: connected at the first statement, and never again. */
function createSession({ url, clock, statementMsMax, onNotify, onLost }: ConnectionOptions) {
  const client = new Client({ ...parseAddress(url), ...SETTINGS })
  const cancel = createCancel(client, clock)
  let state: 'open' | 'stopping' | 'closed' = 'open'
  let connecting: Promise<void> | null = null
  let isConnected = false
  /** Rejects the calls that wait for answers. */
  const waiting = new Set<(fault: DatabaseAway) => void>()

  // Until it is connected, `connect` has the reason.
  const onEnd = () => isConnected && hangUp(lost())
  client.on('error', onEnd)
  client.on('end', onEnd)
  client.on('notification', ({ channel, payload = '' }) => onNotify?.(channel, payload))

  function hangUp(fault: DatabaseAway): void {
    if (state === 'closed') return
    state = 'closed'
    client.connection.stream.destroy()
    for (const fail of waiting) fail(fault)
    onLost?.()
  }

  async function connect(): Promise<void> {
    const late = clock.after(CONNECT_MS_MAX, () => client.connection.stream.destroy())
    try {
      await client.connect()
      isConnected = true
    } catch (error) {
      const fault = faultOf(error)
      hangUp(fault instanceof DatabaseAway ? fault : lost())
      throw fault
    } finally {
      late()
    }
    if (statementMsMax !== undefined) bound(client, statementMsMax)
  }

  async function ask(statement: Statement): Promise<StatementResult> {
    try {
      return await execute(client, statement)
    } catch (error) {
      const fault = faultOf(error)
      if (fault instanceof DatabaseAway && !isSlow(fault)) hangUp(fault)
      throw fault
    }
  }

  return {
    isOpen: () => state === 'open',
    hangUp,

    /** Asks the server to stop, and hangs up when it does not. */
    stop(fault: DatabaseAway): void {
      if (state !== 'open') return
      state = 'stopping'
      if (cancel()) clock.after(STOP_MS_MAX, () => hangUp(fault))
      else hangUp(fault)
    },

    async answersTo(statements: readonly Statement[]): Promise<Settled> {
      connecting ??= connect()
      await connecting
      const answers: StatementResult[] = []
      for (const one of await Promise.allSettled(statements.map(ask))) {
        if (one.status === 'rejected') return { answers, fault: one.reason as Error }
        answers.push(one.value)
      }
      return { answers, fault: null }
    },

    /** Settles as `work` does; rejects when the connection is lost before. */
    async orLost<Result>(work: Promise<Result>): Promise<Result> {
      const { promise: gone, reject } = Promise.withResolvers<never>()
      waiting.add(reject)
      return await Promise.race([work, gone]).finally(() => waiting.delete(reject))
    },

    async close(): Promise<void> {
      const isThere = state === 'open' && isConnected
      state = 'closed'
      if (isThere) await withinGoodbye(clock, client.end())
      client.connection.stream.destroy()
    },
  }
}

/** Waits a second at most. */
async function withinGoodbye(clock: Clock, work: Promise<unknown>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const cancel = clock.after(GOODBYE_MS, resolve)
  await Promise.race([work.catch(() => {}), late])
  cancel()
}

/**
 * Not awaited: these are sent before the first statement. A server that does not know the second
 * setting refuses it alone.
 */
function bound(client: Client, statementMsMax: number): void {
  for (const set of [
    `SET statement_timeout = ${statementMsMax}`,
    `SET client_connection_check_interval = ${THERE_MS}`,
  ])
    client.query(set).catch(() => {})
}

const SETTINGS: ClientConfig = {
  application_name: 'moonbase',
  types: RESULT_TYPES,
  // Statements are sent back to back.
  pipeline: true,
}

async function execute(client: Client, { sql, args }: Statement): Promise<StatementResult> {
  const result = await client.query(sql, args.map(storable))
  // Of several statements in one text, which a migration has, the driver gives all results.
  const { rows, rowCount } = (Array.isArray(result) ? result.at(-1) : result) as QueryResult
  return { rows, changes: rowCount ?? 0 }
}
