import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import { createLogs } from '../features/logs/service.ts'
import { createLogStore, type LogRow } from '../features/logs/store.ts'
import { createUsage } from '../features/usage/service.ts'
import { createUsageStore, type UsageEvent, usageKey } from '../features/usage/store.ts'
import type { LoggedRequest } from '../http/observe.ts'
import { createWriteBehindCounter, createWriteBehindQueue } from '../jobs/write-behind.ts'
import type { Db } from '../storage/db.ts'
import type { Reader } from '../storage/reader.ts'

export interface RecordParts {
  readonly db: Db
  readonly reader: Reader
  readonly clock: Clock
  readonly log: Logger
}

/** What is written of requests after they were answered: log rows and the count of calls. */
export function openRecords({ db, reader, clock, log }: RecordParts) {
  const store = createLogStore(db, reader)
  const rows = createWriteBehindQueue<LogRow>({
    clock,
    log,
    name: 'request log',
    write: store.write,
  })
  const usageStore = createUsageStore(db)
  const calls = createWriteBehindCounter<UsageEvent>({
    clock,
    log,
    name: 'usage',
    keyOf: usageKey,
    write: usageStore.write,
  })
  const logs = createLogs({ store, clock, buffer: rows })
  return {
    logs,
    usage: createUsage({ store: usageStore, clock, counter: calls }),
    buffers: { rows, calls },
    record: (request: LoggedRequest) => logs.record(logRow(request, clock.now())),
  }
}

function logRow({ principal, ...request }: LoggedRequest, ts: number) {
  return {
    tenantId: principal?.tenantId ?? '',
    appId: principal?.appId ?? null,
    deviceId: principal?.deviceId ?? null,
    ts,
    endpoint: request.endpoint,
    status: request.status,
    latencyMs: request.latencyMs,
    sessionId: request.sessionId,
    textChars: request.textChars,
    errorClass: request.errorClass,
    channel: request.channel,
  }
}
