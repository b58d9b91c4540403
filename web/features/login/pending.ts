import { keep } from '../../lib/kept.ts'

const SAVED = 'mb.login'
/** The lifetime of a login code. */
const VALID_MS = 300_000

/**
 * The e-mail address of the last code, stored for this tab, because a phone may discard the page
 * while the person reads the mail.
 */
export function readPending(storage: Storage, now: number): string | null {
  const [at, email] = (storage.getItem(SAVED) ?? '').split(' ')
  return email && now - Number(at) < VALID_MS ? email : null
}

export function savePending(storage: Storage, email: string | null, now: number): void {
  keep(SAVED, email === null ? null : `${now} ${email}`, storage)
}
