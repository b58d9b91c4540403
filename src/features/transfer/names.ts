/** Things of a tenant that an import may meet, oldest first. */
export interface Named {
  readonly id: string
  readonly name: string
}

/**
 * Names that may be there several times: the n-th of a name in a file stands for the n-th of that
 * name in the tenant.
 */
export function createNames(existing: readonly Named[]) {
  const ids = new Map<string, string[]>()
  for (const { id, name } of existing) {
    const known = ids.get(name)
    if (known) known.push(id)
    else ids.set(name, [id])
  }
  for (const known of ids.values()) known.reverse()
  return {
    /** What the next one of a name in the file stands for; null: there are no more of it. */
    next: (name: string): string | null => ids.get(name)?.pop() ?? null,
  }
}

export type Names = ReturnType<typeof createNames>
