import { appError } from '../../core/errors.ts'
import { sessionId } from '../../core/fields.ts'

/** For clients that can set headers and no fields of the body (contract 2, D2). */
const SESSION_HEADER = 'x-moonbase-session'

/**
 * The session that a caller asks for: by the body, else by the header; null for none. Throws a 400
 * for a name that is too long or a header that is not percent-encoded UTF-8.
 */
export function sessionOf(given: string | undefined, headers: Headers): string | null {
  const name = given?.trim() || decoded(headers.get(SESSION_HEADER) ?? '').trim()
  return name === '' ? null : sessionId(name)
}

/** The runtime gives the bytes of a header as characters. */
function decoded(value: string): string {
  try {
    const bytes = Buffer.from(value, 'latin1')
    return decodeURIComponent(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw appError('field_invalid', { field: 'X-Moonbase-Session' }, { param: 'session_id' })
  }
}
