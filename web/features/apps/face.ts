import type { App } from '../../api/types.ts'

/** How an assistant shows itself to people. */
export interface Face {
  readonly icon: string | null
  readonly description: string
  readonly greeting: string
  readonly starters: readonly string[]
}

/** The face of an assistant; an empty one of none. */
export function faceOf(app: App | null): Face {
  const { icon, description, greeting, starters }: Partial<App> = app ?? {}
  return {
    icon: icon ?? null,
    description: description ?? '',
    greeting: greeting ?? '',
    starters: starters ?? [],
  }
}
