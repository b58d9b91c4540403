import { type Clock, createSettledClock, DAY_MS } from '../../core/clock.ts'
import { newId } from '../../core/crypto.ts'
import { LOG_RETENTION_DAYS } from '../../core/limits/contract.ts'
import { CLOCK_SETTLED_MS } from '../../core/limits/machine.ts'
import type { Principal } from '../../core/principal.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import type { LogsResponse, RequestLogEntry } from './model.ts'
import type { LogQuery } from './query.ts'
import type { LatencyCount, LogRow, LogStore, LogTimes, RowEnd, WaitingRow } from './store.ts'

/** Rows of one statement, a few milliseconds; then searches that wait get their turn. */
const SLICE_ROWS_MAX = 10_000

export interface LogsOptions {
  readonly store: LogStore
  readonly clock: Clock
  /** Collects rows, which are written together. */
  readonly buffer: { add(row: WaitingRow | RowEnd): void; flush(): Promise<void> }
  readonly sliceRowsMax?: number
}

/** An answered request (http/observe.ts) and its principal; null for an unknown caller. */
export interface AnsweredRequest
  extends Omit<LogRow, 'id' | 'tenantId' | 'appId' | 'deviceId' | 'keyId'> {
  readonly principal: Principal | null
}

/** The request log: written after the answers, read with a summary, kept for seven days. */
export function createLogs(options: LogsOptions) {
  const { store, clock, buffer, sliceRowsMax = SLICE_ROWS_MAX } = options
  const isSettled = createSettledClock(clock, CLOCK_SETTLED_MS)
  /** Each tenant reads one list at a time. */
  const inTurn = createSemaphore({ perKey: 1 }).run

  /** Reads slice by slice, newest first, so that a million rows delay no other tenant. */
  async function read(tenantId: string, { filter, limit }: LogQuery, signal?: AbortSignal) {
    await allRecorded()
    await buffer.flush()
    const histogram = createHistogram()
    const rows: (LogRow & LogTimes)[] = []
    for (let until = filter.until; ; ) {
      signal?.throwIfAborted()
      const start = await store.sliceStart(tenantId, filter.since, until, sliceRowsMax)
      const slice = { ...filter, since: start ?? filter.since, until }
      if (rows.length < limit) {
        rows.push(...(await store.rows(tenantId, slice, limit - rows.length)))
      }
      histogram.add(await store.latencies(tenantId, slice))
      if (start === null) break
      until = start - 1
    }
    return { logs: rows.map(entryOf), summary: histogram.summary() }
  }

  return {
    /**
     * Records an answered request; it is on disk within about a second. To be called back when its
     * stream has ended.
     */
    record(request: AnsweredRequest): (firstMs: number | null, totalMs: number) => void {
      const waiting = rowOf(request)
      buffer.add(waiting)
      return (firstMs, totalMs) => {
        if (waiting.isTaken) buffer.add({ ended: waiting, firstMs, totalMs })
        else Object.assign(waiting, { firstMs, totalMs })
      }
    },

    /**
     * The newest rows that match, and a summary of all that match, which includes every request
     * that was answered before. Rejects with the signal's reason when it aborts.
     */
    list: (tenantId: string, query: LogQuery, signal?: AbortSignal): Promise<LogsResponse> =>
      inTurn(tenantId, () => read(tenantId, query, signal), signal),

    /**
     * Deletes rows older than seven days (specification, Limits). Called at intervals; deletes
     * nothing soon after the clock was set.
     */
    async prune(): Promise<void> {
      if (!isSettled()) return
      const before = clock.now() - LOG_RETENTION_DAYS * DAY_MS
      while ((await store.prune(before)) > 0);
    },
  }
}

export type Logs = ReturnType<typeof createLogs>

/** The hook that records a request runs after its answer, when the event loop has gone round. */
const allRecorded = () => new Promise<void>((resolve) => setImmediate(resolve))

const rowOf = (request: AnsweredRequest): WaitingRow => ({
  id: newId(),
  tenantId: request.principal?.tenantId ?? '',
  appId: request.principal?.appId ?? null,
  deviceId: request.principal?.deviceId ?? null,
  keyId: request.principal?.keyId ?? null,
  ts: request.ts,
  endpoint: request.endpoint,
  status: request.status,
  latencyMs: request.latencyMs,
  sessionId: request.sessionId,
  textChars: request.textChars,
  errorClass: request.errorClass,
  channel: request.channel,
  firstMs: null,
  totalMs: null,
  isTaken: false,
})

function entryOf(row: LogRow & LogTimes): RequestLogEntry {
  return {
    id: row.id,
    app_id: row.appId,
    device_id: row.deviceId,
    endpoint: row.endpoint,
    status: row.status,
    latency_ms: row.latencyMs,
    session_id: row.sessionId,
    text_chars: row.textChars,
    error_class: row.errorClass,
    channel: row.channel,
    key_id: row.keyId,
    first_ms: row.firstMs,
    total_ms: row.totalMs,
    ts: new Date(row.ts).toISOString(),
  }
}

/**
 * Counts rows by latency, over any number of slices of the log. There are far fewer latencies than
 * rows, so exact percentiles cost little memory.
 */
export function createHistogram() {
  const counts = new Map<number, number>()
  let rows = 0
  let errors = 0
  let measured = 0

  /** Lower nearest rank: index floor((n-1)·p) in ascending order (contract, section 4). */
  function percentile(sorted: readonly (readonly [number, number])[], p: number): number | null {
    let index = Math.floor((measured - 1) * p)
    for (const [latency, count] of sorted) {
      if (index < count) return latency
      index -= count
    }
    return null
  }

  return {
    add(slice: readonly LatencyCount[]): void {
      for (const { latencyMs, count, errors: failed } of slice) {
        rows += count
        errors += failed
        if (latencyMs === null) continue
        measured += count
        counts.set(latencyMs, (counts.get(latencyMs) ?? 0) + count)
      }
    },
    summary() {
      const sorted = [...counts].sort(([a], [b]) => a - b)
      return {
        count: rows,
        err_count: errors,
        p50_ms: percentile(sorted, 0.5),
        p95_ms: percentile(sorted, 0.95),
      }
    },
  }
}
