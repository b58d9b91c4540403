import type { Choice } from './form.tsx'

interface Named {
  readonly id: string
  readonly name: string
}

/**
 * The choices of a field for none or one of these. What was chosen and is gone stays a choice: the
 * field would show another one.
 */
export function namedChoices(
  list: readonly Named[] | undefined,
  chosen: string,
  { none, gone }: { readonly none: string; readonly gone: string },
): Choice[] {
  const known = (list ?? []).map(({ id, name }) => ({ value: id, label: name }))
  const isKnown = chosen === '' || known.some(({ value }) => value === chosen)
  const other = isKnown ? [] : [{ value: chosen, label: list ? gone : '…' }]
  return [{ value: '', label: none }, ...other, ...known]
}
