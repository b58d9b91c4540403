import type { QueryClient } from '@tanstack/react-query'

/**
 * Loads again all that lies under `key`, after a change at the server. An answer that is still on
 * its way may have left the server before the change, and a first load is not asked for twice by
 * the query client: so what is on its way is dropped first.
 */
export async function reload(client: QueryClient, key: readonly string[]): Promise<void> {
  await client.cancelQueries({ queryKey: key })
  await client.invalidateQueries({ queryKey: key })
}
