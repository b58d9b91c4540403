import { Parser } from 'htmlparser2'

/** Lines of one failure that are printed: the expectation and the place. */
const FIRST_LINES = 28
const LAST_LINES = 10
const LINE_CHARS = 300

/**
 * The failed tests of a report in JUnit's format, each with its file, name and error: in the log
 * they are far apart, and a truncated log has only its end.
 */
export function failuresIn(junit: string): string[] {
  const failures: string[] = []
  let title = ''
  let message: string | null = null
  let text = ''
  const parser = new Parser(
    {
      onopentag(tag, { name = '', classname = '', file = '', line = '', ...more }) {
        if (tag === 'testcase') {
          title = `${joined(':', file, line)}\n${joined(' > ', classname, name)}`
        }
        if (tag !== 'failure') return
        message = `${more.type}: ${more.message}`
        text = ''
      },
      ontext: (piece) => {
        text += piece
      },
      onclosetag(tag) {
        if (tag !== 'failure' || message === null) return
        failures.push(`${title}\n${shortened(text.trim() === '' ? message : text)}`)
        message = null
      },
    },
    { xmlMode: true },
  )
  parser.end(junit)
  return failures
}

const joined = (by: string, ...words: string[]) => words.filter(Boolean).join(by)

/** Errors outside tests, such as those of an import, which the report lacks. */
export const errorsIn = (log: string): string[] =>
  Bun.stripANSI(log)
    .split('# Unhandled error between tests\n')
    .slice(1)
    .map((rest) => shortened(rest.split(/\n-{20,}\n/, 2)[0]?.replace(/^-+\n/, '') ?? ''))

function shortened(text: string): string {
  const said = Bun.stripANSI(text).split('\n')
  const lines = said.filter((line) => line.trim() !== '').map((line) => line.slice(0, LINE_CHARS))
  if (lines.length <= FIRST_LINES + LAST_LINES) return lines.join('\n')
  return [...lines.slice(0, FIRST_LINES), '  …', ...lines.slice(-LAST_LINES)].join('\n')
}
