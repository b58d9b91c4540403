import { expect, test } from 'bun:test'
import { inChinese } from '../../web/i18n/reference-words.ts'
import { startApp } from '../support/app.ts'

interface Described {
  readonly description?: string
  readonly properties?: Readonly<Record<string, Described>>
  readonly items?: Described
  readonly anyOf?: readonly Described[]
}
interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Described }>>
}
interface Operation {
  readonly summary: string
  readonly parameters: readonly Described[]
  readonly requestBody?: Content
  readonly description?: string
  readonly responses: Readonly<Record<string, Content & Described>>
}

const fieldsOf = ({ properties = {}, items, anyOf = [] }: Described): [string, Described][] => [
  ...Object.entries(properties).flatMap(([name, field]): [string, Described][] => [
    [name, field],
    ...fieldsOf(field),
  ]),
  ...[...(items ? [items] : []), ...anyOf].flatMap(fieldsOf),
]

/** The fields of these have words; those of others may be without, but not without Chinese. */
const SETTLED = /^\/v1\/(agent|sessions|voice|tts|asr|logs|provider|export|import)\b/

test('the API reference is in both languages', async () => {
  await using app = await startApp()
  const answer = await (await fetch(`${app.url}/openapi.json`)).json()
  const paths = answer.paths as Readonly<Record<string, Readonly<Record<string, Operation>>>>
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).map((operation) => ({ path, operation })),
  )
  const missing = new Set<string>()
  const see = (what: string, sentence: string | undefined) => {
    if (sentence && inChinese(sentence) === sentence) missing.add(`${what}: ${sentence}`)
  }
  for (const { path, operation } of operations) {
    const { summary, description, requestBody, responses, parameters } = operation
    see('summary', summary)
    see('description', description)
    for (const parameter of parameters) see('parameter', parameter.description)
    for (const answer of Object.values(responses)) see('answer', answer.description)
    const { default: _error, ...answers } = responses
    for (const { content = {} } of [requestBody ?? {}, ...Object.values(answers)]) {
      for (const [name, field] of Object.values(content).flatMap(({ schema }) =>
        fieldsOf(schema),
      )) {
        see(name, field.description)
        if (!field.description && SETTLED.test(path)) missing.add(`${name}: none`)
      }
    }
  }
  // Words stand in src/http/field-words.ts and web/i18n/reference-*.ts.
  expect([...missing]).toEqual([])
})
