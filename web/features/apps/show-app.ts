import type { QueryClient } from '@tanstack/react-query'
import type { App } from '../../api/types.ts'

interface List {
  readonly apps: readonly App[]
}

/** Shows an app as it was saved, before the list is loaded again. */
export const showApp = (client: QueryClient, saved: App): void =>
  void client.setQueryData<List>(['apps'], (list) => {
    if (!list) return list
    const isThere = list.apps.some(({ id }) => id === saved.id)
    const apps = list.apps.map((one) => (one.id === saved.id ? saved : one))
    return { ...list, apps: isThere ? apps : [saved, ...apps] }
  })
