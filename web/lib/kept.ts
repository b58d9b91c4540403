const NOTHING = { getItem: () => null, setItem() {}, removeItem() {} } as unknown as Storage

/** What the browser keeps for this tab; where it may keep nothing, this page alone has it. */
export const tabStorage = ((): Storage => {
  try {
    return sessionStorage ?? NOTHING
  } catch {
    return NOTHING
  }
})()

/** What the browser keeps under this name; null also where it may keep nothing. */
export function kept(name: string): string | null {
  try {
    return localStorage.getItem(name)
  } catch {
    return null
  }
}

/** Keeps it; null drops it. Where the browser is full or may not, this page alone has it. */
export function keep(name: string, value: string | null, storage?: Storage): void {
  try {
    const place = storage ?? localStorage
    if (value === null) place.removeItem(name)
    else place.setItem(name, value)
  } catch {
    // It keeps what it had.
  }
}
