import { dirname, join } from 'node:path'
import type { Finding, SourceFile } from './tree.ts'

export interface Import {
  readonly line: number
  /** True for `import type` and `export type`, which the compiler erases. */
  readonly typeOnly: boolean
  /** The repository path of a relative specifier; null for a package. */
  readonly target: string | null
}

export interface Rule {
  readonly name: string
  readonly check: (files: readonly SourceFile[]) => Finding[]
}

export const isModule = (path: string) => /\.(ts|tsx|mts|mjs)$/.test(path)

const NAMED = String.raw`[ \t]*['"](?<from>[^'"\n]+)['"]`
/** Static imports and re-exports, `import('x')`, and workers named by `new URL('x', …)`. */
const IMPORTS = [
  String.raw`^[ \t]*(?:import|export)\b(?<type>[ \t]+type\b)?(?:[^'";]*?\bfrom)?${NAMED}`,
  String.raw`\bimport\((?<type>)${NAMED}`,
  String.raw`\bnew URL\((?<type>)${NAMED}`,
].map((pattern) => new RegExp(pattern, 'gm'))

const lineOf = (text: string, at: number) => text.slice(0, at).split('\n').length

export function importsOf({ path, text }: SourceFile): Import[] {
  return IMPORTS.flatMap((pattern) =>
    [...text.matchAll(pattern)].map((match) => {
      const from = match.groups?.from ?? ''
      return {
        line: lineOf(text, match.index),
        typeOnly: Boolean(match.groups?.type),
        target: from.startsWith('.') ? join(dirname(path), from) : null,
      }
    }),
  )
}

/** A rule against every line that matches `pattern` in the files that `inFile` accepts. */
export const lineRule = (
  name: string,
  inFile: (path: string) => boolean,
  pattern: RegExp,
  mend: string,
): Rule => ({
  name,
  check: (files) =>
    files
      .filter(({ path }) => inFile(path))
      .flatMap(({ path, text }) =>
        text.split('\n').flatMap((content, index) => {
          const match = content.match(pattern)?.[0]
          return match === undefined
            ? []
            : [{ path, line: index + 1, message: `${match.slice(0, 40).trim()}: ${mend}` }]
        }),
      ),
})
