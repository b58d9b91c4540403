/** A UUIDv7 (RFC 9562): unique, and in creation order when sorted as text (contract, Ids). */
export function newId(): string {
  return Bun.randomUUIDv7()
}
