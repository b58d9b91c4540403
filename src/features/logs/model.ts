import { z } from 'zod'

export const RequestLogEntry = z.lazy(() =>
  z.object({
    id: z.string(),
    app_id: z.string().nullable(),
    device_id: z.string().nullable(),
    endpoint: z.string(),
    status: z.int(),
    latency_ms: z.int().nullable(),
    session_id: z.string().nullable(),
    text_chars: z.int().nullable(),
    error_class: z.string().nullable(),
    channel: z.string().nullable(),
    key_id: z.string().nullable(),
    /** Only for streams: milliseconds to the first word or sound, and to the end. */
    first_ms: z.int().nullable(),
    total_ms: z.int().nullable(),
    ts: z.string(),
  }),
)
export type RequestLogEntry = z.infer<typeof RequestLogEntry>

export const LogsResponse = z.lazy(() =>
  z.object({
    logs: z.array(RequestLogEntry),
    /** Covers all matching rows, not only those returned. */
    summary: z.object({
      count: z.int(),
      err_count: z.int(),
      p50_ms: z.int().nullable(),
      p95_ms: z.int().nullable(),
    }),
  }),
)
export type LogsResponse = z.infer<typeof LogsResponse>

/** What a row must match; null matches every row. Times are epoch milliseconds, inclusive. */
export interface LogFilter {
  readonly endpoint: string | null
  readonly statusFrom: number
  readonly statusTo: number
  readonly appId: string | null
  readonly deviceId: string | null
  readonly keyId: string | null
  readonly sessionId: string | null
  readonly errorClass: string | null
  readonly since: number
  readonly until: number
}
