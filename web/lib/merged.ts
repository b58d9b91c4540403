interface Merged<T> {
  readonly value: T
  /** The fields that somebody else has changed to something else meanwhile. */
  readonly lost: readonly (keyof T)[]
}

/** What a form stands for beside what was stored meanwhile: what was not typed follows that. */
export function merged<T extends object>(opened: T, typed: T, stored: T): Merged<T> {
  const names = Object.keys(typed) as (keyof T)[]
  const mine = names.filter((name) => typed[name] !== opened[name])
  const value = { ...typed }
  for (const name of names) if (!mine.includes(name)) value[name] = stored[name]
  const isLost = (name: keyof T) => stored[name] !== opened[name] && stored[name] !== typed[name]
  return { value, lost: mine.filter(isLost) }
}
