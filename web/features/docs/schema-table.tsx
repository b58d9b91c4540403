import { useI18n } from '../../i18n/index.tsx'
import { withIndexKeys } from '../../lib/index-keys.ts'
import { choicesOf, type Parameter, type Schema, typeOf } from './openapi.ts'
import { useSay } from './say.ts'

interface Line {
  readonly name: string
  readonly schema: Schema
  readonly required: boolean
  readonly depth: number
  /** Whether this field begins another form of the object. */
  readonly isOther: boolean
}

const DEPTH_MAX = 4

/** The object schemas that a value may have, itself or as items of a list. */
function objectsOf(schema: Schema): readonly Schema[] {
  if (schema.properties) return [schema]
  if (schema.items) return objectsOf(schema.items)
  return choicesOf(schema)?.flatMap(objectsOf) ?? []
}

function linesOf(schema: Schema, depth = 0): Line[] {
  if (depth > DEPTH_MAX) return []
  return objectsOf(schema).flatMap(({ properties = {}, required }, form) =>
    Object.entries(properties).flatMap(([name, property], place) => [
      {
        name,
        schema: property,
        required: required?.includes(name) ?? false,
        depth,
        isOther: form > 0 && place === 0,
      },
      ...linesOf(property, depth + 1),
    ]),
  )
}

const longest = ({ maxLength, ...schema }: Schema): number | undefined =>
  maxLength ?? choicesOf(schema)?.map(longest).find(Boolean)

const INDENT = ['', 'pl-4', 'pl-8', 'pl-12', 'pl-16']

/** The fields of a body or an answer, one a line, nested ones indented. */
export function SchemaTable({ schema }: { readonly schema: Schema }) {
  const lines = linesOf(schema)
  if (lines.length === 0) return <code>{typeOf(schema)}</code>
  return <Rows lines={lines} />
}

/** The parameters in path, query and headers, one a line. */
export const ParameterTable = ({ parameters }: { readonly parameters: readonly Parameter[] }) => (
  <Rows
    lines={parameters.map(({ name, in: place, required = false, description = '' }) => ({
      ...{ name, required, depth: 0, isOther: false },
      schema: { type: place, description },
    }))}
  />
)

function Rows({ lines }: { readonly lines: readonly Line[] }) {
  const { t } = useI18n()
  const say = useSay()
  return (
    <dl className="divide-y divide-line text-note">
      {withIndexKeys(lines).map(
        ({ key, item: { name, schema: field, required, depth, isOther } }) => (
          <div key={key} className="grid gap-x-4 py-1.5 sm:grid-cols-[13rem_minmax(0,1fr)]">
            <dt className={INDENT[depth]}>
              {isOther && <span className="mr-1.5 text-ink-3">{t('docs.or')}</span>}
              <code className="font-semibold">{name}</code>
              {required && <span className="ml-1.5 text-mini text-warn">{t('docs.required')}</span>}
            </dt>
            <dd className="min-w-0 text-ink-2">
              <code className="break-words">{typeOf(field)}</code>
              {field.description && <span className="ml-2">{say(field.description)}</span>}
              {longest(field) !== undefined && (
                <span className="ml-2 text-ink-3">≤ {longest(field)}</span>
              )}
              {field.default !== undefined && (
                <span className="ml-2 text-ink-3">= {JSON.stringify(field.default)}</span>
              )}
            </dd>
          </div>
        ),
      )}
    </dl>
  )
}
