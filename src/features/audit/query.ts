import { appError } from '../../core/errors.ts'
import { clampedLimit } from '../../core/fields.ts'
import {
  AUDIT_LIMIT_DEFAULT,
  AUDIT_LIMIT_MAX,
  LOG_FILTER_CHARS_MAX,
} from '../../core/limits/contract.ts'
import { charCount } from '../../core/text.ts'
import { ACTIONS } from './actions.ts'
import type { AuditFilter } from './store.ts'

export interface AuditQuery {
  /** Sorts after the ids of the lines. */
  readonly before: string
  readonly limit: number
  readonly filter: AuditFilter
}

/** Parses the query of GET /audit. Throws a 400 for a malformed one; an empty filter is ignored. */
export function parseAuditQuery(query: URLSearchParams): AuditQuery {
  const actor = query.get('actor')?.trim() || null
  if (actor !== null && charCount(actor) > LOG_FILTER_CHARS_MAX) throw malformed('actor')
  return {
    before: idBefore(query.get('before') || null),
    limit: clampedLimit(query.get('limit'), AUDIT_LIMIT_DEFAULT, AUDIT_LIMIT_MAX),
    filter: { actor: actor?.toLowerCase() ?? null, actions: actionsOf(query.get('action')) },
  }
}

const malformed = (field: string) => appError('query_invalid', { field })

/** An action such as `key.revoke`, or all on a noun such as `key`. */
function actionsOf(name: string | null): readonly string[] | null {
  if (!name) return null
  const all = [...new Set(Object.values(ACTIONS))]
  const named = all.filter((action) => action === name || action.startsWith(`${name}.`))
  if (named.length === 0) throw malformed('action')
  return named
}

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-/
/** Sorts after every id. */
const AFTER_ALL = 'g'

/** `before` is the id of a line or a time; an id begins with the 48 bits of its milliseconds. */
function idBefore(before: string | null): string {
  if (before === null) return AFTER_ALL
  if (ID.test(before) && before.length === 36) return before
  const ms = /^\d{4}-/.test(before) ? Date.parse(before) : Number.NaN
  if (!(ms >= 0)) throw malformed('before')
  const hex = ms.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}`
}
