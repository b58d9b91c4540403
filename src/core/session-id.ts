import { appError } from './errors.ts'
import { SESSION_ID_CHARS_MAX } from './limits/contract.ts'
import { charCount } from './text.ts'

/** The tenant-shared anonymous session (specification, AgentRequest). */
const ANONYMOUS = 'anon'

/**
 * The caller's own name of a session; empty means the anonymous one. Too long: 400. A lone
 * surrogate has no UTF-8 form: replaced here, so that the name in memory is the one that is stored.
 */
export function sessionId(given: string | undefined): string {
  const id = given?.trim().toWellFormed() ?? ''
  if (charCount(id) > SESSION_ID_CHARS_MAX) {
    throw appError('field_too_long', { field: 'session_id', max: SESSION_ID_CHARS_MAX })
  }
  return id || ANONYMOUS
}
