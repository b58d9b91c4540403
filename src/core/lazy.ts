/**
 * A constant that is made on first use, so that the start does not pay for what only some requests
 * need, such as ICU tables.
 */
export function lazy<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
