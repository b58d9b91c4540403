import type { App } from '../../api/types.ts'

/** How an assistant shows itself to people. */
export interface Face {
  readonly icon: string | null
  readonly description: string
  readonly greeting: string
  readonly starters: readonly string[]
}

type Faced = App & {
  readonly icon?: string | null
  readonly description?: string | null
  readonly greeting?: string | null
  readonly starters?: readonly string[] | null
}

/** The face of an assistant; an empty one where the server tells of none. */
export function faceOf(app: App | null): Face {
  const { icon, description, greeting, starters }: Partial<Faced> = app ?? {}
  return {
    icon: icon ?? null,
    description: description ?? '',
    greeting: greeting ?? '',
    starters: starters ?? [],
  }
}
