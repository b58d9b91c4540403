import { type Clock, DAY_MS } from '../../core/clock.ts'
import { newId } from '../../core/crypto.ts'
import { LOG_RETENTION_DAYS } from '../../core/limits/contract.ts'
import type { Principal } from '../../core/principal.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import type { LogsResponse, RequestLogEntry } from './model.ts'
import type { LogQuery } from './query.ts'
import { createLogReader } from './reading.ts'
import type { LogRow, LogStore, LogTimes, RowEnd, WaitingRow } from './store.ts'

export interface LogsOptions {
  readonly store: LogStore
  readonly clock: Clock
  /** Collects rows, which are written together. */
  readonly buffer: { add(row: WaitingRow | RowEnd): void; flush(): Promise<void> }
  readonly sliceRowsMax?: number
  /** Days that records are kept; rows are kept seven at most. */
  readonly days: () => number
}

/** An answered request (http/observe.ts) and its principal; null for an unknown caller. */
export interface AnsweredRequest
  extends Omit<LogRow, 'id' | 'tenantId' | 'appId' | 'deviceId' | 'keyId'> {
  readonly principal: Principal | null
}

/** The request log: written after the answers, read with a summary, kept for seven days. */
export function createLogs(options: LogsOptions) {
  const { store, clock, buffer, sliceRowsMax, days } = options
  const reader = createLogReader(store, sliceRowsMax)
  /** Each tenant reads one list at a time. */
  const inTurn = createSemaphore({ perKey: 1 }).run

  async function read(tenantId: string, query: LogQuery, signal?: AbortSignal) {
    await allRecorded()
    await buffer.flush()
    const { rows, summary } = await reader.read(tenantId, query, signal)
    return { logs: rows.map(entryOf), summary }
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
     * The newest rows that match, and a summary of all that match. Both include what this server
     * has answered before; rows of other servers come within a second. Rejects with the signal's
     * reason when it aborts.
     */
    list: (tenantId: string, query: LogQuery, signal?: AbortSignal): Promise<LogsResponse> =>
      inTurn(tenantId, () => read(tenantId, query, signal), signal),

    /** Deletes rows older than seven days. */
    async prune(): Promise<void> {
      const before = clock.now() - Math.min(days(), LOG_RETENTION_DAYS) * DAY_MS
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
