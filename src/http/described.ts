import { FIELD_WORDS } from './field-words.ts'

interface Schema {
  description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
}

/** Adds the words for fields whose schema has none, in place. */
export function describe(schema: Schema): void {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const words = FIELD_WORDS[name]
    if (words !== undefined) field.description ??= words
    describe(field)
  }
  const inner = [schema.items, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
  for (const one of inner) if (one) describe(one)
}
