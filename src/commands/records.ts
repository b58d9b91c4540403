import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import type { Principal } from '../core/principal.ts'
import { createLogs } from '../features/logs/service.ts'
import { createLogStore, type LogRow } from '../features/logs/store.ts'
import { createUsageStore, type UsageEvent } from '../features/usage/store.ts'
import type { LoggedRequest } from '../http/request-log.ts'
import { createBuffer } from '../jobs/buffer.ts'
import type { Db } from '../storage/db.ts'

const DAY_MS = 86_400_000

/** What is written of requests after they were answered: log rows and the count of calls. */
export function openRecords(db: Db, clock: Clock, log: Logger) {
  const store = createLogStore(db)
  const rows = createBuffer<LogRow>({ clock, log, name: 'request log', write: store.write })
  const calls = createBuffer<UsageEvent>({
    clock,
    log,
    name: 'usage',
    write: createUsageStore(db).write,
  })
  const logs = createLogs({ store, clock, buffer: rows })
  return {
    logs,
    buffers: { rows, calls },
    record: (request: LoggedRequest) => logs.record(logRow(request, clock.now())),
    count: ({ tenantId, appId }: Principal) =>
      calls.add({ tenantId, appId, day: Math.floor(clock.now() / DAY_MS) }),
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
