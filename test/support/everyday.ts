import { readFileSync } from 'node:fs'

/** Documents of one shop, office or household, and what people ask about them. */
export interface EverydayBase {
  readonly name: string
  readonly docs: readonly { readonly title: string; readonly text: string }[]
  readonly asked: readonly { readonly question: string; readonly title: string }[]
}

export interface EverydaySet {
  readonly bases: readonly EverydayBase[]
  /** Questions of the same kind on subjects that no document has. */
  readonly unanswerable: readonly string[]
}

const isQuestion = (line: string) => line.startsWith('? ')
const questionsOf = (lines: readonly string[]) =>
  lines.filter(isQuestion).map((line) => line.slice(2))

/**
 * Short everyday documents of test/fixtures/everyday. `=== name` begins the documents of one
 * owner, `== title` a document, `? ` a question that it answers; `=== -` the unanswerable ones.
 */
export function readEveryday(language: 'zh' | 'en'): EverydaySet {
  const path = `${import.meta.dir}/../fixtures/everyday/${language}.txt`
  const parts = readFileSync(path, 'utf8').split(/^=== /m).slice(1)
  const bases = parts.slice(0, -1).map((part): EverydayBase => {
    const [name = '', ...blocks] = part.split(/^== /m)
    const read = blocks.map((block) => {
      const [title = '', ...lines] = block.split('\n')
      const text = lines
        .filter((line) => !isQuestion(line))
        .join('\n')
        .trim()
      return { title, text, questions: questionsOf(lines) }
    })
    return {
      name: name.trim(),
      docs: read.map(({ title, text }) => ({ title, text })),
      asked: read.flatMap(({ title, questions }) =>
        questions.map((question) => ({ question, title })),
      ),
    }
  })
  return { bases, unanswerable: questionsOf((parts.at(-1) ?? '').split('\n')) }
}
