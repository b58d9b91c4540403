/**
 * A constant that is made when it is first asked for: start-up should not pay for what only some
 * requests need, such as ICU tables.
 */
export function lazy<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
