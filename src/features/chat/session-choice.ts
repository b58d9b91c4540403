import { appError } from '../../core/errors.ts'
import { SESSION_ID_CHARS_MAX } from '../../core/limits/contract.ts'
import { charCount } from '../../core/text.ts'

/** For clients that can set headers and no fields of the body (contract 2, D2). */
const SESSION_HEADER = 'X-Moonbase-Session'

export interface NamedSession {
  /** The field of the body, and what it says. */
  readonly field: string
  readonly given: string | undefined
}

/**
 * The session that a caller asks for: by the body, else by the header; null for none. Throws a 400
 * for a name that is too long or a header that is not percent-encoded UTF-8.
 */
export function sessionOf({ field, given }: NamedSession, headers: Headers): string | null {
  const inBody = given?.trim().toWellFormed() ?? ''
  const name = inBody || decoded(headers.get(SESSION_HEADER) ?? '').trim()
  if (charCount(name) > SESSION_ID_CHARS_MAX) {
    const param = inBody === '' ? SESSION_HEADER : field
    throw appError('field_too_long', { field: param, max: SESSION_ID_CHARS_MAX }, { param })
  }
  return name === '' ? null : name
}

/** The runtime gives the bytes of a header as characters. */
function decoded(value: string): string {
  try {
    const bytes = Buffer.from(value, 'latin1')
    return decodeURIComponent(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw appError('field_invalid', { field: SESSION_HEADER }, { param: SESSION_HEADER })
  }
}
