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
  readonly responses: Readonly<Record<string, Content>>
}

const fieldsOf = ({ properties = {}, items, anyOf = [] }: Described): [string, Described][] => [
  ...Object.entries(properties).flatMap(([name, field]): [string, Described][] => [
    [name, field],
    ...fieldsOf(field),
  ]),
  ...[...(items ? [items] : []), ...anyOf].flatMap(fieldsOf),
]

/** Whose fields seldom change; the words of others may come after them. */
const SETTLED = /^\/v1\/(agent|sessions|voice|tts|asr|logs|provider|export|import)\b/

test('the API reference describes fields in both languages', async () => {
  await using app = await startApp()
  const answer = await (await fetch(`${app.url}/openapi.json`)).json()
  const paths = answer.paths as Readonly<Record<string, Readonly<Record<string, Operation>>>>
  const own = Object.entries(paths).filter(([path]) => SETTLED.test(path))
  const missing = new Set<string>()
  const chinese = (sentence: string) => inChinese(sentence) !== sentence
  for (const operation of own.flatMap(([, methods]) => Object.values(methods))) {
    const { summary, requestBody, responses, parameters } = operation
    if (!chinese(summary)) missing.add(`summary: ${summary}`)
    for (const { description } of parameters) {
      if (description && !chinese(description)) missing.add(`parameter: ${description}`)
    }
    const { default: _error, ...answers } = responses
    for (const { content = {} } of [requestBody ?? {}, ...Object.values(answers)]) {
      for (const [name, { description }] of Object.values(content).flatMap((c) =>
        fieldsOf(c.schema),
      )) {
        if (!description || !chinese(description)) missing.add(`${name}: ${description ?? 'none'}`)
      }
    }
  }
  // Words stand in src/http/field-words.ts and web/i18n/reference-*.ts.
  expect([...missing]).toEqual([])
})
