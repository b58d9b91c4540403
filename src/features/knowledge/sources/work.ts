import { type Clock, HOUR_MS, MINUTE_MS } from '../../../core/clock.ts'
import { SCAN_SPOOLED_HOURS } from '../../../core/limits/scans.ts'
import { errorFields, type Logger } from '../../../core/log.ts'
import type { Meters } from '../../../core/meters.ts'
import type { Jobs } from '../../../jobs/runner.ts'
import { leaseName, type SharedState } from '../../../storage/shared-state.ts'
import { ChannelFailure } from '../../../upstream/ports/failure.ts'
import type { PartStore } from '../index/part-store.ts'
import { PageUnread } from '../scans/page-reader.ts'
import type { Scans } from '../scans/service.ts'
import { failure, ScanFailure, SourceFailure, StatusFailure } from './failure.ts'
import { type Ingest, isWaiting } from './ingest.ts'
import type { Spool } from './reading.ts'
import type { SourceKey, SourceRow } from './row.ts'
import type { SourceStore } from './store.ts'
import type { SourceTelling } from './telling.ts'

/** Waits after failures of the embedder; after the last one the source fails. */
const RETRY_MS = [10_000, MINUTE_MS, 5 * MINUTE_MS] as const

export interface WorkOptions {
  readonly store: SourceStore
  readonly documents: PartStore
  readonly spool: Spool
  readonly ingest: Ingest
  readonly scans: Pick<Scans, 'forget'>
  readonly jobs: Jobs
  readonly shared: Pick<SharedState, 'isAlone' | 'leases' | 'files' | 'announcer'>
  readonly clock: Clock
  readonly log: Logger
  readonly meters: Pick<Meters, 'sourceEnded'>
  readonly telling: SourceTelling
}

/**
 * Works on sources in the background. The work queue is in the database, so it continues after a
 * restart.
 */
export function createSourceWork(options: WorkOptions) {
  const { store, documents, spool, ingest, scans, jobs, clock, log, meters } = options
  const { isAlone, leases, files, announcer } = options.shared
  const running = new Map<string, AbortController>()
  /** Sources that became due again before the work on them had ended. */
  const again = new Set<string>()
  let recovered: Promise<void> | null = null

  const sweep = () => jobs.run('remove old documents', documents.sweep)

  async function work(key: SourceKey, signal: AbortSignal): Promise<void> {
    const source = await store.row(key.tenant_id, key.id)
    // A version that a newer one has overtaken before anybody read it.
    if (!source) await removeFile(key.id)
    if (source?.due_at == null || source.due_at > clock.now()) return
    const begin = clock.steady()
    let outcome = 'ready'
    try {
      // What another process left that was at work on it.
      if (!isAlone) await documents.discard(key.id)
      if (source.kind !== 'url' && isWaiting(source)) await fetchFile(options, key.id)
      await ingest.run(source, signal)
    } catch (error) {
      if (signal.aborted) return
      outcome = await fail(options, source, error)
    }
    meters.sourceEnded(outcome, (clock.steady() - begin) / 1_000)
    const left = await store.row(key.tenant_id, key.id)
    if (!left || left.kind === 'url' || !isKept(left)) await removeFile(key.id)
    if (!left || !(isKept(left) || left.attempts > 0)) await scans.forget(key.id)
    // A version of it may wait.
    if (left?.origin && !isWaiting(left)) startAgain()
  }

  async function removeFile(id: string): Promise<void> {
    spool.remove(id)
    await files.remove(id)
  }

  const startAgain = () => jobs.run('start sources', startDue)

  function start(key: SourceKey): void {
    if (running.has(key.id)) {
      again.add(key.id)
      return
    }
    const ended = new AbortController()
    running.set(key.id, ended)
    jobs.run('read a source', async (stopping) => {
      const signal = AbortSignal.any([stopping, ended.signal])
      let isOurs = true
      try {
        isOurs = await leases.hold(leaseName.source(key.id), signal, (held) => work(key, held))
      } catch (error) {
        // The result could not be stored: the database does not answer.
        log.error('state of a source not stored', errorFields(error))
        await clock.sleep(RETRY_MS[0], signal).catch(() => {})
      } finally {
        running.delete(key.id)
        if (isOurs) sweep()
        if (again.delete(key.id)) startAgain()
      }
    })
  }

  async function startDue(): Promise<void> {
    recovered ??= recover(options).catch((error) => {
      recovered = null
      throw error
    })
    await recovered
    const elsewhere = new Set(await leases.heldElsewhere(leaseName.source('')))
    for (const key of await store.due(clock.now()))
      if (!elsewhere.has(leaseName.source(key.id))) start(key)
  }

  function endHere(id: string): void {
    running.get(id)?.abort(new Error('the source was deleted'))
    sweep()
    jobs.run('remove a file', () => removeFile(id))
  }

  announcer.on('source deleted', async (id) => endHere(id))

  return {
    /** Starts work on all sources that are due. */
    startDue,

    prune: () => endSpooled(options, removeFile),

    /** How many sources are being worked on, or wait for their turn. */
    open: (state: 'waiting' | 'reading'): number =>
      state === 'reading' ? ingest.running() : running.size - ingest.running(),

    /** Calls `startDue` now, because a source has become due. */
    wake: startAgain,

    /** Ends the work on a deleted source, also at another server: each page costs tokens. */
    end(id: string): void {
      endHere(id)
      if (!running.has(id)) jobs.run('end a source', () => endElsewhere(options, id))
    },
  }
}

/** Who takes the lease later finds no source. */
async function endElsewhere({ shared }: WorkOptions, id: string): Promise<void> {
  const held = await shared.leases.heldElsewhere(leaseName.source(id))
  if (held.length > 0) await shared.announcer.announce('source deleted', id)
}

/** Removes failed files that nobody has read again in time. */
async function endSpooled(
  { store, scans, clock }: WorkOptions,
  removeFile: (id: string) => Promise<void>,
): Promise<void> {
  const now = clock.now()
  for (const { id } of await store.spooled(now)) {
    if (!(await store.unspool(id, now))) continue
    await removeFile(id)
    await scans.forget(id)
  }
}

const isKept = (source: SourceRow) => isWaiting(source) || source.spooled_until !== null

export type SourceWork = ReturnType<typeof createSourceWork>

/** Fetches a file that another process received. Throws `SourceFailure` when it is lost. */
async function fetchFile({ spool, shared }: WorkOptions, id: string): Promise<void> {
  if (spool.has(id)) return
  const pieces = await shared.files.fetch(id)
  if (!pieces) throw failure('interrupted')
  await spool.write(id, pieces)
}

/** Stores a failure, and tells webhooks of it. `until`: its file stays in the spool. */
async function storeFailure(
  { store, telling, clock }: Pick<WorkOptions, 'store' | 'telling' | 'clock'>,
  key: SourceKey,
  error: SourceFailure,
  until: number | null = null,
): Promise<void> {
  // It may have been renamed while it was read.
  const { title = '' } = (await store.row(key.tenant_id, key.id)) ?? {}
  const isMissing = error instanceof StatusFailure && error.isMissing
  const at = { now: clock.now(), iso: clock.iso() }
  await telling.failed({ key, title }, error, isMissing, (told) =>
    store.failed(key, error, isMissing, at, until, told),
  )
}

/** Stores a failure; returns its class for the meters. */
async function fail(options: WorkOptions, source: SourceRow, error: unknown): Promise<string> {
  const { store, clock, log } = options
  const at = { now: clock.now(), iso: clock.iso() }
  if (error instanceof SourceFailure) {
    const until = error instanceof ScanFailure ? at.now + SCAN_SPOOLED_HOURS * HOUR_MS : null
    await storeFailure(options, source, error, until)
    return error.errorClass
  }
  log.warn('source not read', { attempt: source.attempts + 1, ...errorFields(error) })
  const wait = RETRY_MS[source.attempts]
  if (wait !== undefined) {
    await store.postpone(source, clock.now() + wait, at)
    return 'retried'
  }
  if (error instanceof PageUnread) return fail(options, source, new ScanFailure('upstream', error))
  const reason = error instanceof ChannelFailure ? 'upstream' : 'internal'
  await storeFailure(options, source, failure(reason))
  return reason
}

/** Continues after a restart: requeues sources, and removes files and documents without one. */
async function recover(options: WorkOptions): Promise<void> {
  const { store, documents, spool, shared } = options
  const waiting = await store.waiting()
  const files = waiting.filter(({ kind }) => kind !== 'url')
  const kept = await store.spooled()
  const needed = new Set([...files, ...kept].map(({ id }) => id))
  for (const id of spool.found) if (!needed.has(id)) spool.remove(id)
  // Other processes may be working: what they leave behind is removed source by source.
  if (!shared.isAlone) return
  for (const key of files.filter(({ id }) => !spool.has(id))) {
    await storeFailure(options, key, failure('interrupted'))
  }
  await store.requeue()
  await documents.discard()
  await documents.sweep()
}

/**
 * Removes documents that dead processes left: those that no process works on, because their source
 * was deleted or their import ended. Reads the documents before the leases: a document whose lease
 * has just ended is shown or discarded by then.
 */
export async function removeAbandoned(parts: Pick<WorkOptions, 'documents' | 'shared'>) {
  const { documents, shared } = parts
  if (shared.isAlone) return
  const arriving = await documents.arriving()
  const lists = [leaseName.source(''), leaseName.import('')].map(shared.leases.held)
  const held = new Set((await Promise.all(lists)).flat())
  const left = arriving.filter(
    ({ tenant_id, source_id }) =>
      !held.has(leaseName.source(source_id)) && !held.has(leaseName.import(tenant_id)),
  )
  if (left.length > 0) await documents.abandon(left.map(({ num }) => num))
  await documents.sweep()
}
