import { importsOf, isModule, lineRule, type Rule } from '../rule.ts'
import { isTest, mayTouchMachine, zoneOf } from '../zones.ts'

// Each pattern is written so that it does not match its own line.
const STATEMENT = new RegExp(
  [
    String.raw`SELECT\s+(?!1 AS)\S`,
    String.raw`INSERT\s+(OR\s+\w+\s+)?INTO\s`,
    String.raw`UPDATE\s+\w+\s+SET\s`,
    String.raw`DELETE\s+FROM\s`,
    String.raw`(CREATE|DROP|ALTER)\s+(VIRTUAL\s+)?(TABLE|INDEX|VIEW|TRIGGER)\s`,
    String.raw`(PRAGMA|VACUUM)\b`,
  ]
    .map((start) => `(^|['"\`])\\s*${start}`)
    .join('|'),
)
const CLOCK = /\bDate\.now\(|\bnew Date(\(\)|\b(?![(\w]))|\bMath\.random\b/
const UNDONE = /\/[/*].*\b(TOD[O]|FIXM[E]|XX[X]|HAC[K])\b/
const SILENCED = /@ts-(ignor[e]|expect-erro[r]|nochec[k])|biome-ignor[e]|eslint-disabl[e]/
/** Paths that start in a folder of one person's machine. */
const MACHINE_PATH =
  /(?<![\w.~:/-])(?:\/(?:home|Users|root|work|workspace|tmp|mnt)\/[\w.-]|[A-Z]:\\Users\\)/
/** The address of a package registry or of its mirror. */
const REGISTRY = /\b(?:https?:)?\/\/[\w.-]*(?:registry|npm|artifact|verdaccio|mirror|nexus)[\w.-]*/i

/** A reference to a text that the repository does not hold, by its name. */
const ELSEWHERE = /(\/\/|\*|--).*(\((see )?|\bthe )(contrac[t]|specificatio[n])\b/i

const COLUMNS = 100
const isWritten = (path: string) => /\.(ts|tsx|mts|mjs|css|html|sql)$/.test(path)
const isTable = (path: string) => /(^|\/)(i18n|fixtures|tables)\//.test(path)
const isSource = (path: string) => path.startsWith('src/') && isModule(path)
const mayHoldSql = (path: string) =>
  path.startsWith('src/storage/') || /(^|[-/])store(-[\w-]+)?\.ts$/.test(path) || isTest(path)

/** Files of limits hold numbers only, so that console and server share them. */
const SHARED = 'src/core/limits/'

const webTypes: Rule = {
  name: 'the console imports types only from src/, and limits',
  check: (files) =>
    files
      .filter(({ path }) => isModule(path) && zoneOf(path) === 'web')
      .flatMap((file) =>
        importsOf(file)
          .filter(({ typeOnly, target }) => !typeOnly && target?.startsWith('src/'))
          .filter(({ target }) => !target?.startsWith(SHARED))
          .map(({ line, target }) => ({
            path: file.path,
            line,
            message: `imports ${target} at run time: write \`import type\``,
          })),
      ),
}

export const textRules: readonly Rule[] = [
  lineRule(
    'SQL stays in store.ts and storage/',
    (path) => isSource(path) && !mayHoldSql(path),
    STATEMENT,
    'move the statement into the store.ts of its feature',
  ),
  lineRule(
    'only roots and core read the clock and chance',
    (path) => isSource(path) && !mayTouchMachine(path),
    CLOCK,
    'take a Clock as an argument, or use core/ids and core/crypto',
  ),
  webTypes,
  lineRule('no work is left as a comment', isModule, UNDONE, 'do it now or drop the note'),
  lineRule(
    'no comment cites a text that is not here',
    isWritten,
    ELSEWHERE,
    'say the rule itself, or cite the manual, a decision or an RFC',
  ),
  lineRule('no check is silenced', isModule, SILENCED, 'mend what the check found'),
  lineRule(
    `lines have at most ${COLUMNS} columns`,
    (path) => isWritten(path) && !isTable(path),
    new RegExp(`^.{${COLUMNS + 1},}$`, 'u'),
    'break the line, or say it in fewer words',
  ),
  lineRule('no file names a path of one machine', () => true, MACHINE_PATH, 'name no folder'),
  lineRule('no file names a package registry', () => true, REGISTRY, 'name the package alone'),
]
