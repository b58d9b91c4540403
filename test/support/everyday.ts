import { readFileSync } from 'node:fs'

/** Documents of one shop, office or household, and what people ask about them. */
export interface EverydayBase {
  readonly name: string
  readonly docs: readonly { readonly title: string; readonly text: string }[]
  readonly asked: readonly AskedEveryday[]
}

export interface AskedEveryday {
  readonly question: string
  /** The document that answers it. */
  readonly title: string
  /** Asked in the other language, or in both. */
  readonly isAcross: boolean
}

export interface EverydaySet {
  readonly bases: readonly EverydayBase[]
  /** Questions of the same kind on subjects that no document has. */
  readonly unanswerable: readonly string[]
}

const QUESTION = /^\?\??(?= )/
const isQuestion = (line: string) => QUESTION.test(line)
const questionOf = (line: string) => line.replace(QUESTION, '').trim()

/**
 * Short everyday documents of test/fixtures/everyday. `=== name` begins the documents of one
 * owner, `== title` a document, `? ` a question that it answers, `?? ` one in the other language or
 * in both; `=== -` the unanswerable ones.
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
      const asked = lines.filter(isQuestion).map((line) => ({
        question: questionOf(line),
        title,
        isAcross: line.startsWith('??'),
      }))
      return { title, text, asked }
    })
    return {
      name: name.trim(),
      docs: read.map(({ title, text }) => ({ title, text })),
      asked: read.flatMap(({ asked }) => asked),
    }
  })
  return {
    bases,
    unanswerable: (parts.at(-1) ?? '').split('\n').filter(isQuestion).map(questionOf),
  }
}
