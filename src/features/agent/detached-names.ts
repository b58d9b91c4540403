/** Under which id a turn is stored that its person has named: others may use the same name. */
export const idOfName = (tenantId: string, userId: string, name: string): string =>
  `${tenantId}/${userId}/${name}`

/** The name by which a person knows a turn. */
export const nameOfId = (id: string): string => id.slice(id.lastIndexOf('/') + 1)
