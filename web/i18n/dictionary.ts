import type { zh } from './zh.ts'

export type Key = keyof typeof zh

/** Every text of the console in one language. */
export type Dictionary = Readonly<Record<Key, string>>
