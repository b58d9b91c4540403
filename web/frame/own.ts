/**
 * The browser's own functions, kept before a page runs: whatever a page puts in their places, the
 * guard calls these. So what is called while a page runs asks no prototype for a method.
 */

export const { apply } = Reflect
const { defineProperty, getOwnPropertyDescriptor } = Object

/** A method as a function that takes its object first. */
export const own =
  <T, A extends unknown[], R>(method: (this: T, ...given: A) => R) =>
  (on: T, ...given: A): R =>
    apply(method, on, given)

/** The getter of a property as a function of the object. */
export function ownGetter<T>(holder: object, name: string): (on: object) => T {
  const read = getOwnPropertyDescriptor(holder, name)?.get
  if (!read) throw new TypeError(`${name} is not there`)
  return (on) => apply(read, on, []) as T
}

const SHARED = ['flags', 'global', 'unicode', 'unicodeSets', 'sticky'] as const

/** A pattern that asks nothing of what all patterns share. */
export function sealed(pattern: RegExp): RegExp {
  for (const name of SHARED) defineProperty(pattern, name, { value: pattern[name] })
  return defineProperty(pattern, 'exec', { value: RegExp.prototype.exec })
}

export const isIn = own(RegExp.prototype.test)

const replacing = own(RegExp.prototype[Symbol.replace] as Replacing)
type Replacing = (this: RegExp, text: string, by: string) => string

export const replaced = (text: string, pattern: RegExp, by: string): string =>
  replacing(pattern, text, by)

/** Puts another method in the place of one, for good; what the holder has not stays away. */
export function replaceMethod<T extends object>(
  holder: T,
  name: string,
  made: (former: Method) => Method,
): void {
  const former = (holder as Record<string, unknown>)[name]
  if (typeof former !== 'function') return
  const value = made(former as Method)
  defineProperty(holder, name, { value, configurable: false, writable: false })
}

type Method = (...given: unknown[]) => unknown
