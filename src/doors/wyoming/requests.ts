import type { Clock } from '../../core/clock.ts'
import type { ErrorClass } from '../../core/error-table.ts'
import { AppError, appError, internalError } from '../../core/errors.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import type { Principal } from '../../core/principal.ts'
import type { OpenTurns } from '../../features/agent/open-turns.ts'
import type { WyomingPeer } from '../../upstream/ports/wyoming.ts'
import type { TurnNote } from './conversation.ts'

/** The caller that the configured key belongs to. */
export interface WyomingCaller {
  readonly principal: Principal
  /** Counts a turn to the key; throws `rate_limited` and `budget_spent`. */
  readonly take: () => Promise<unknown>
}

/** A request for the log. */
export interface WyomingRow extends Omit<TurnNote, 'refused'> {
  readonly principal: Principal
  readonly status: number
  readonly errorClass: ErrorClass | null
  readonly latencyMs: number
}

export interface RequestOptions {
  /** Null when the configured key is unknown or revoked. */
  readonly caller: () => Promise<WyomingCaller | null>
  readonly openTurns: Pick<OpenTurns, 'run'>
  readonly clock: Pick<Clock, 'steady'>
  readonly log: Logger
  readonly record: (row: WyomingRow) => void
}

type Note = (more: TurnNote) => void

/** The common part of all requests of Wyoming clients: key, log and failures. */
export function createRequests({ caller, openTurns, clock, log, record }: RequestOptions) {
  /** Whether the key was valid before: then an invalid key was revoked. */
  let wasGood = false

  const refuse = async (peer: WyomingPeer, { message: text, code }: AppError): Promise<void> => {
    if (!peer.signal.aborted) await peer.send('error', { text, code })
  }

  /** Sends the error and closes the connection, because Home Assistant would wait for an answer. */
  async function fail(peer: WyomingPeer, error: unknown): Promise<AppError> {
    const failure = failureOf(peer, error)
    if (failure.code === 'internal') log.error('wyoming failed', errorFields(error))
    await refuse(peer, failure).catch(() => {})
    peer.close()
    return failure
  }

  /** The caller; null after the client got the error of an invalid key. */
  async function admitted(peer: WyomingPeer): Promise<WyomingCaller | null> {
    const known = await caller()
    wasGood ||= known !== null
    if (known !== null) return known
    await refuse(peer, appError('invalid_key'))
    if (wasGood) peer.close()
    return null
  }

  /** Runs a request and writes its row of the request log. Never rejects. */
  async function run(
    peer: WyomingPeer,
    work: (caller: WyomingCaller, note: Note) => Promise<void>,
  ): Promise<void> {
    const startedAt = clock.steady()
    const known = await admitted(peer)
    if (known === null) return
    let noted: TurnNote = {}
    const note: Note = (more) => {
      noted = { ...noted, ...more }
    }
    const failure = await work(known, note).then(
      () => null,
      (error: unknown) => fail(peer, error),
    )
    const { refused, ...row } = noted
    const { status, errorClass } = failure ?? refused ?? { status: 200, errorClass: null }
    const latencyMs = Math.round(clock.steady() - startedAt)
    const { principal } = known
    if (status !== 401) record({ ...row, principal, status, errorClass, latencyMs })
  }

  return {
    admitted,
    fail,
    run,

    /** As `run`, and ends at once when the key is revoked. */
    watch: (
      peer: WyomingPeer,
      work: (tenantId: string, signal: AbortSignal, note: Note) => Promise<void>,
    ): Promise<void> =>
      run(peer, ({ principal }, note) =>
        openTurns.run(principal, peer.signal, async ({ signal, confirm }) => {
          await confirm()
          await work(principal.tenantId, signal, note).catch((error: unknown) => {
            throw signal.aborted ? signal.reason : error
          })
          signal.throwIfAborted()
        }),
      ),
  }
}

function failureOf({ signal }: WyomingPeer, error: unknown): AppError {
  if (signal.aborted) return appError('canceled', {}, { cause: error })
  return error instanceof AppError ? error : internalError(error)
}
