/** A UUIDv7 (RFC 9562): unique, and sorts as text by creation time (contract, Ids). */
export function newId(): string {
  return Bun.randomUUIDv7()
}
