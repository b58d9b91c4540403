import type { Suggestion } from './use-suggestions.ts'

/** Whether a text asks for values, such as `{{city}}`. */
export const HAS_FIELD = /\{\{[^{}:]+\}\}/

export const optionId = (list: string, at: number) => `${list}-${at}`

interface Suggested {
  readonly list: readonly Suggestion[]
  /** The one that Enter takes. */
  readonly at: number
}

/** How the field, which keeps the focus, names the list and what Enter takes of it. */
export const ariaOf = (id: string, { list, at }: Suggested) =>
  list.length === 0
    ? {}
    : ({
        'aria-autocomplete': 'list',
        'aria-controls': id,
        'aria-activedescendant': optionId(id, at),
      } as const)
