import { lineRule, type Rule } from '../rule.ts'
import type { Finding, SourceFile } from '../tree.ts'
import { isTest } from '../zones.ts'

/** What holds no brackets of code: comments, strings, templates and regular expressions. */
const NO_CODE = new RegExp(
  [
    String.raw`\/\/.*|\/\*[\s\S]*?\*\/`,
    String.raw`'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"`,
    '`(?:\\\\.|[^`\\\\])*`',
    String.raw`(?<=[(,=:?&|!{}[;]\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n])+\/`,
  ].join('|'),
  'g',
)
/** What follows braces that take an object apart: a value, a type, `of`, or an arrow. */
const TAKES_APART = /^(?:\s*=(?![=>])|:|\s+of\b|\)(?::|\s*=>))/

/** Adds properties to an object, as a spread does. */
const ASSIGNS = /Object\.assign\(\s*(?:[^()]*,\s*)?\{/g

/** Where code spreads one object into another; `{ a, ...rest } = b` takes one apart instead. */
function objectSpreads(text: string): number[] {
  const code = text.replaceAll(NO_CODE, (match) => match.replaceAll(/[^\n]/g, ' '))
  const found = [...code.matchAll(ASSIGNS)].map(({ index }) => index)
  const open: { readonly bracket: string; readonly spreads: number[] }[] = []
  for (const { 0: mark, index } of code.matchAll(/\.\.\.|[{}()[\]]/g)) {
    if (mark === '...') open.at(-1)?.spreads.push(index)
    else if ('{(['.includes(mark)) open.push({ bracket: mark, spreads: [] })
    else {
      const { bracket = '', spreads = [] } = open.pop() ?? {}
      if (bracket === '{' && !TAKES_APART.test(code.slice(index + 1))) found.push(...spreads)
    }
  }
  return found.sort((one, other) => one - other)
}

const spreadsIn = ({ path, text }: SourceFile): Finding[] =>
  objectSpreads(text).map((index) => ({
    path,
    line: text.slice(0, index).split('\n').length,
    message: 'spreads an object: name each part, so that a reader sees where it comes from',
  }))

export const spreadRules: readonly Rule[] = [
  {
    name: 'wiring names each part that it passes on',
    check: (files) =>
      files
        .filter(({ path }) => /^src\/(wiring\/.*|app|surface)\.ts$/.test(path) && !isTest(path))
        .flatMap(spreadsIn),
  },
  lineRule(
    'no object is made to be spread at once',
    (path) => path.startsWith('src/') && /\.ts$/.test(path),
    /\.\.\.\{/,
    'write its properties where it is spread',
  ),
]
