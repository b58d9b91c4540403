import { z } from 'zod'
import { appError, issue } from './errors.ts'
import type { Principal } from './principal.ts'

/** Whom a turn is spoken with: what is remembered of somebody is filed under the subject. */

/** For clients that can set a header but no field of the body. */
export const SUBJECT_HEADER = 'X-Moonbase-Subject'

/** The subject of everybody who talks to Home Assistant. */
export const WYOMING_SUBJECT = 'wyoming'

/** What callers may name. */
const FREE = /^(?!user:|device:|wyoming)[A-Za-z0-9._@:-]{1,100}$/

export const isFreeSubject = (subject: string): boolean => FREE.test(subject)
export const personSubject = (userId: string): string => `user:${userId}`
export const deviceSubject = (deviceId: string): string => `device:${deviceId}`

/** A field of a body; null and blank mean "not given". `namedSubject` checks its form. */
export const subjectField = z
  .string({ error: issue('field_type', { field: 'subject', kind: 'string_or_null' }) })
  .nullish()

/** The subject that a caller cannot choose; undefined where it may name one. */
function ownSubject({ userId, deviceId, shareId }: Principal): string | null | undefined {
  if (shareId !== undefined) return null
  if (userId !== null) return personSubject(userId)
  return deviceId === null ? undefined : deviceSubject(deviceId)
}

/**
 * The subject that a caller names: in the body, else in the header. What somebody names who has a
 * subject of their own is ignored. Throws `memory_subject`.
 */
export function namedSubject(
  principal: Principal,
  given: string | null | undefined,
  headers?: Headers,
): string | undefined {
  if (ownSubject(principal) !== undefined) return
  const inBody = given?.trim() ?? ''
  const name = inBody || (headers?.get(SUBJECT_HEADER)?.trim() ?? '')
  if (name === '') return
  if (isFreeSubject(name)) return name
  throw appError('memory_subject', {}, { param: inBody === '' ? SUBJECT_HEADER : 'subject' })
}

/**
 * Whom a turn is spoken with; null: nobody. A caller with a subject of their own is that one,
 * whatever they name, unless they name nobody, which is null.
 */
export function subjectOf(principal: Principal, named: string | null | undefined): string | null {
  if (named === null) return null
  const own = ownSubject(principal)
  return own === undefined ? (named ?? null) : own
}

/** The person whom a subject names; null for any other subject. */
export const personOf = (subject: string | null): string | null =>
  subject?.startsWith('user:') ? subject.slice('user:'.length) : null
