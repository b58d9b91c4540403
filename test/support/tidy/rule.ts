import type { Mark, Module } from './module.ts'
import { isModule, parseModule } from './parse.ts'
import type { Finding, SourceFile } from './tree.ts'

/** The repository as the rules see it: all written files, and the facts of those that are code. */
export interface Tree {
  readonly files: readonly SourceFile[]
  readonly modules: readonly Module[]
}

export interface Rule {
  readonly name: string
  readonly check: (tree: Tree) => Finding[]
}

export const makeTree = (files: readonly SourceFile[]): Tree => ({
  files,
  modules: files.filter(({ path }) => isModule(path)).map(parseModule),
})

/** A rule that looks at one module at a time. */
export const moduleRule = (name: string, check: (module: Module) => Finding[]): Rule => ({
  name,
  check: ({ modules }) => modules.flatMap(check),
})

/** A rule that looks at one file of any kind at a time. */
export const fileRule = (name: string, check: (file: SourceFile) => Finding[]): Rule => ({
  name,
  check: ({ files }) => files.flatMap(check),
})

/** One finding for each mark. */
export const findings = (
  { path }: SourceFile,
  marks: readonly Mark[],
  message: (text: string) => string,
): Finding[] => marks.map(({ line, text }) => ({ path, line, message: message(text) }))

/** The lines of a file that a pattern matches. */
export const linesWith = ({ text }: SourceFile, pattern: RegExp): Mark[] =>
  text.split('\n').flatMap((content, index) => {
    const match = content.match(pattern)
    return match ? [{ text: match[0], line: index + 1 }] : []
  })
