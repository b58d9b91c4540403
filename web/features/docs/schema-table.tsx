import { useI18n } from '../../i18n/index.tsx'
import { withIndexKeys } from '../../lib/index-keys.ts'
import { type Schema, typeOf } from './openapi.ts'

interface Line {
  readonly name: string
  readonly schema: Schema
  readonly required: boolean
  readonly depth: number
}

const DEPTH_MAX = 4

/** The object schema itself, or that of the items of a list. */
function objectOf(schema: Schema): Schema | null {
  if (schema.properties) return schema
  return schema.items ? objectOf(schema.items) : null
}

function linesOf(schema: Schema, depth = 0): Line[] {
  const object = objectOf(schema)
  if (!object || depth > DEPTH_MAX) return []
  return Object.entries(object.properties ?? {}).flatMap(([name, property]) => [
    { name, schema: property, required: object.required?.includes(name) ?? false, depth },
    ...linesOf(property, depth + 1),
  ])
}

const INDENT = ['', 'pl-4', 'pl-8', 'pl-12', 'pl-16']

/** The fields of a body or an answer, one a line, nested ones indented. */
export function SchemaTable({ schema }: { readonly schema: Schema }) {
  const { t } = useI18n()
  const lines = linesOf(schema)
  if (lines.length === 0) return <code>{typeOf(schema)}</code>
  return (
    <dl className="divide-y divide-line text-[0.9rem]">
      {withIndexKeys(lines).map(({ key, item: { name, schema: field, required, depth } }) => (
        <div key={key} className="grid gap-x-4 py-1.5 sm:grid-cols-[13rem_minmax(0,1fr)]">
          <dt className={INDENT[depth]}>
            <code className="font-semibold">{name}</code>
            {required && (
              <span className="ml-1.5 text-[0.8rem] text-warn">{t('docs.required')}</span>
            )}
          </dt>
          <dd className="min-w-0 text-ink-2">
            <code className="break-words">{objectOf(field) ? shape(field) : typeOf(field)}</code>
            {field.description && <span className="ml-2">{field.description}</span>}
            {field.maxLength !== undefined && (
              <span className="ml-2 text-ink-3">≤ {field.maxLength}</span>
            )}
            {field.default !== undefined && (
              <span className="ml-2 text-ink-3">= {JSON.stringify(field.default)}</span>
            )}
          </dd>
        </div>
      ))}
    </dl>
  )
}

const shape = (schema: Schema): string => (schema.items ? 'object[]' : 'object')
