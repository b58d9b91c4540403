import { fileRule, findings, linesWith, moduleRule, type Rule } from '../rule.ts'

const FILE_LINES_MAX = 300
const FUNCTION_LINES_MAX = 70
const LINE_CHARS_MAX = 100
const LONG_LINE = new RegExp(`^.{${LINE_CHARS_MAX + 1},}$`, 'u')

/** Tables of data are as long as their data. */
const isTable = (path: string) => /(^|\/)(i18n|fixtures|tables)\//.test(path)
const isMeasured = (path: string) => /\.(ts|tsx|mts|js|mjs|css|html|sql)$/.test(path)

export const sizeRules: readonly Rule[] = [
  fileRule(`files have at most ${FILE_LINES_MAX} lines`, ({ path, text }) => {
    const lines = text.replace(/\n$/, '').split('\n').length
    if (!isMeasured(path) || isTable(path) || lines <= FILE_LINES_MAX) return []
    const message = `has ${lines} lines, at most ${FILE_LINES_MAX}: one idea a file, split it`
    return [{ path, line: FILE_LINES_MAX + 1, message }]
  }),
  // A `describe` block is a heading for tests, not a function.
  moduleRule(`functions have at most ${FUNCTION_LINES_MAX} lines`, ({ path, functions }) =>
    functions
      .filter(({ name, lines }) => lines > FUNCTION_LINES_MAX && !name.startsWith('describe'))
      .map(({ name, line, lines }) => ({
        path,
        line,
        message: `${name} has ${lines} lines, at most ${FUNCTION_LINES_MAX}: split off helpers`,
      })),
  ),
  fileRule(`lines have at most ${LINE_CHARS_MAX} columns`, (file) =>
    isMeasured(file.path) && !isTable(file.path)
      ? findings(file, linesWith(file, LONG_LINE), (text) => {
          return `has ${[...text].length} columns, at most ${LINE_CHARS_MAX}: break the line`
        })
      : [],
  ),
]
