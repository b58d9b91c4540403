import { type ArgumentField, argumentsOf, fieldsOf } from '../tools/arguments.ts'

type Json = Readonly<Record<string, unknown>>

/**
 * The fields of what a person is asked. `given` are the arguments that the model has chosen, which
 * the person allows; null for an empty form, which the person fills in.
 */
export const filledFields = (schema: Json, given: Json | null): ArgumentField[] =>
  fieldsOf(schema).map((field) => (given === null ? plain(field) : filled(field, given)))

/** Without the type, which is for who writes programs. */
const plain = (field: ArgumentField): ArgumentField => ({
  ...field,
  type: field.kind === 'json' ? field.type : '',
})

/** A value that its field would show or give back as another one is shown as JSON. */
function filled(field: ArgumentField, given: Json): ArgumentField {
  const { name, kind, choices } = field
  // A default of the schema is not what the model has given.
  if (!Object.hasOwn(given, name)) return { ...plain(field), initial: '' }
  const value = given[name]
  const isPlain = kind === 'text' || kind === 'number' || kind === 'integer'
  const shown = { ...plain(field), initial: isPlain ? String(value) : JSON.stringify(value) }
  const isOffered = kind !== 'choice' || choices.some((choice) => choice.value === shown.initial)
  const { args } = argumentsOf([shown], {})
  const isSame = JSON.stringify(args[name]) === JSON.stringify(value)
  if (kind !== 'json' && isOffered && isSame) return shown
  return { ...field, kind: 'json', initial: JSON.stringify(value, null, 2) }
}
