import type { Mark } from '../module.ts'
import { fileRule, findings, linesWith, moduleRule, type Rule } from '../rule.ts'

const UNDONE = /\b(TODO|FIXME|XXX|HACK)\b/
const SILENCED = /@ts-(ignore|expect-error|nocheck)|biome-ignore|eslint-disable/
const FOCUSED = /^(test|it|describe)(\.\w+)*\.only$/
const SKIPPED = /^(test|it|describe)(\.\w+)*\.(skip|todo)$/

/** Folders of somebody's machine, at the start of a path. */
const MACHINE_PATH =
  /(?<![\w.~:/-])(?:\/(?:home|Users|root|work|workspace|tmp|mnt)\/[\w.-]|[A-Z]:\\Users\\)/
/** An address of a package registry or of a mirror of one. */
const REGISTRY = /\b(?:https?:)?\/\/[\w.-]*(?:registry|npm|artifact|verdaccio|mirror|nexus)[\w.-]*/i

const comments = (name: string, pattern: RegExp, mend: string): Rule =>
  moduleRule(name, (module) =>
    findings(
      module,
      module.comments.filter(({ text }) => pattern.test(text)),
      (text) => `leaves ${text.match(pattern)?.[0]}: ${mend}`,
    ),
  )

const skipped = moduleRule('a skipped test says why', (module) =>
  findings(
    module,
    module.calls.filter(({ text, line }) => {
      const near = (comment: Mark) => comment.line <= line && comment.line >= line - 3
      return SKIPPED.test(text) && !module.comments.some(near)
    }),
    (text) => `${text} gives no reason: run it, delete it, or say why in a comment above`,
  ),
)

export const leftoverRules: readonly Rule[] = [
  comments('no work is left as a comment', UNDONE, 'do it now or drop the note'),
  comments('no check is silenced', SILENCED, 'mend what the check found'),
  moduleRule('no test is focused', (module) =>
    findings(
      module,
      module.calls.filter(({ text }) => FOCUSED.test(text)),
      (text) => `${text} hides every other test: drop .only`,
    ),
  ),
  skipped,
  moduleRule('nothing is typed any', ({ path, anys }) =>
    anys.map((line) => ({ path, line, message: 'uses any: name the type, or narrow unknown' })),
  ),
  fileRule('no file names a path of one machine', (file) =>
    findings(file, linesWith(file, MACHINE_PATH), (text) => {
      return `names ${text}…: build the path from import.meta, the config or a temp folder`
    }),
  ),
  fileRule('no file names a package registry', (file) =>
    findings(file, linesWith(file, REGISTRY), (text) => {
      return `names ${text}: leave the registry to the user's own npm settings`
    }),
  ),
]
