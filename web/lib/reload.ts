import type { QueryClient } from '@tanstack/react-query'

/**
 * Reloads all queries under `key` after a change at the server. Cancels requests under way first:
 * their answers may be older than the change, and the query client would not repeat a first load.
 */
export async function reload(client: QueryClient, key: readonly string[]): Promise<void> {
  await client.cancelQueries({ queryKey: key })
  await client.invalidateQueries({ queryKey: key })
}
