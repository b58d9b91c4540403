import { dirname, join } from 'node:path'
import type { SourceFile } from './tree.ts'

export interface Import {
  readonly specifier: string
  readonly line: number
  /** Erased by the compiler: a declaration that begins `import type` or `export type`. */
  readonly typeOnly: boolean
  /** Repository path that a relative specifier names; null for a package. */
  readonly target: string | null
}

/** A name on a line: a global, a callee, a text, a comment. */
export interface Mark {
  readonly text: string
  readonly line: number
}

export interface Span {
  readonly name: string
  readonly line: number
  readonly lines: number
}

/** The facts of one source file that the rules ask for. */
export interface Module extends SourceFile {
  readonly imports: Import[]
  /** Names that no scope of the file declares: `fetch`, `Date.now`, `new Date()`. */
  readonly globals: Mark[]
  readonly functions: Span[]
  /** Callees such as `test.only`. */
  readonly calls: Mark[]
  /** String literals and the fixed parts of templates. */
  readonly texts: Mark[]
  readonly comments: Mark[]
  /** Lines with the type `any`. */
  readonly anys: number[]
}

export const emptyModule = ({ path, text }: SourceFile): Module => ({
  path,
  text,
  imports: [],
  globals: [],
  functions: [],
  calls: [],
  texts: [],
  comments: [],
  anys: [],
})

/** Repository path of `specifier` as `from` writes it, or null for a package or built-in module. */
export function targetOf(from: string, specifier: string): string | null {
  if (!/^\.{0,2}\//.test(specifier)) return null
  return join(dirname(from), specifier).replaceAll('\\', '/')
}

/** Turns an offset into a line number, counted from 1. */
export function lineCounter(text: string): (offset: number) => number {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return (offset) => {
    let [low, high] = [0, starts.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return low + 1
  }
}
