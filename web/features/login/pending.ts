const SAVED = 'mb.login'
/** As long as a code is valid (specification, Limits). */
const VALID_MS = 300_000

/**
 * The address that a code was sent to. Kept for this tab, because a phone may throw the page away
 * while its owner reads the mail.
 */
export function readPending(storage: Storage, now: number): string | null {
  const [at, email] = (storage.getItem(SAVED) ?? '').split(' ')
  return email && now - Number(at) < VALID_MS ? email : null
}

export function savePending(storage: Storage, email: string | null, now: number): void {
  if (email === null) storage.removeItem(SAVED)
  else storage.setItem(SAVED, `${now} ${email}`)
}
