import { appError } from './errors.ts'
import { SESSION_ID_CHARS_MAX } from './limits/contract.ts'
import { charCount } from './text.ts'

/** The tenant-shared anonymous session (specification, AgentRequest). */
const ANONYMOUS = 'anon'

/**
 * Reads the caller's name of a session; empty means the anonymous one, too long is a 400. Lone
 * surrogates have no UTF-8 form and are replaced here, so that memory and database hold one name.
 */
export function sessionId(given: string | undefined): string {
  const id = given?.trim().toWellFormed() ?? ''
  if (charCount(id) > SESSION_ID_CHARS_MAX) {
    throw appError('field_too_long', { field: 'session_id', max: SESSION_ID_CHARS_MAX })
  }
  return id || ANONYMOUS
}
