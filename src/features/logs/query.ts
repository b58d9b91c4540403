import { z } from 'zod'
import { DAY_MS } from '../../core/clock.ts'
import { appError } from '../../core/errors.ts'
import { clampedLimit } from '../../core/fields.ts'
import {
  LOG_FILTER_CHARS_MAX,
  LOGS_LIMIT_DEFAULT,
  LOGS_LIMIT_MAX,
} from '../../core/limits/contract.ts'
import { charCount } from '../../core/text.ts'
import type { LogFilter } from './model.ts'

const Day = z.iso.date()
const INSTANT = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:?\d\d)?$/

export interface LogQuery {
  readonly filter: LogFilter
  readonly limit: number
}

/** Parses the query of GET /logs. Throws a 400 for a malformed filter; an empty one is ignored. */
export function parseLogQuery(query: URLSearchParams): LogQuery {
  const text = (name: string): string | null => {
    const value = query.get(name)
    if (value !== null && charCount(value) > LOG_FILTER_CHARS_MAX) throw malformed(name)
    return value || null
  }
  const { from, to } = statusRange(text('status'))
  return {
    limit: clampedLimit(query.get('limit'), LOGS_LIMIT_DEFAULT, LOGS_LIMIT_MAX),
    filter: {
      endpoint: text('endpoint'),
      statusFrom: from,
      statusTo: to,
      appId: text('app_id'),
      deviceId: text('device_id'),
      keyId: text('key_id'),
      sessionId: text('session_id'),
      errorClass: text('error_class'),
      since: time('since', text('since'), 0) ?? 0,
      until: time('until', text('until'), DAY_MS - 1) ?? Number.MAX_SAFE_INTEGER,
    },
  }
}

const malformed = (name: string) => appError('query_invalid', { field: name })

/** A code such as `429` or a class such as `4xx`. */
function statusRange(value: string | null): { from: number; to: number } {
  if (value === null) return { from: 0, to: 999 }
  if (/^[1-5]\d\d$/.test(value)) return { from: Number(value), to: Number(value) }
  if (!/^[1-5]xx$/i.test(value)) throw malformed('status')
  const from = Number(value[0]) * 100
  return { from, to: from + 99 }
}

/**
 * Epoch milliseconds of an ISO 8601 time, UTC when it has no offset. `dayOffset` is added to a date
 * without a time. A `+` that was not percent-encoded arrives as a space.
 */
function time(name: string, value: string | null, dayOffset: number): number | null {
  if (value === null) return null
  if (Day.safeParse(value).success) return Date.parse(value) + dayOffset
  const mended = value.replace(/ (?=\d\d:?\d\d$)/, '+')
  const [, day, clock, offset = 'Z'] = INSTANT.exec(mended) ?? []
  const zone = offset.replace(/^(...)(\d\d)$/, '$1:$2')
  const ms = Day.safeParse(day).success ? Date.parse(`${day}T${clock}${zone}`) : Number.NaN
  if (Number.isNaN(ms)) throw malformed(name)
  return ms
}
