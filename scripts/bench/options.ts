import { resolve } from 'node:path'
import { readArguments, UsageError, wholeNumber } from '../usage.ts'

/** The description of a suite for the help text and for the choice of suites. */
export interface SuiteText {
  readonly about: string
  /** Runs only when it is named. */
  readonly optIn?: boolean
}

export type Options<Name extends string> =
  | { readonly kind: 'retrieval'; readonly folder: string }
  | {
      readonly kind: 'suites'
      readonly suites: readonly Name[]
      readonly rounds: number
      /** Turns of the box of `growth`. */
      readonly turns: number
      /** The folder of filled boxes that are kept. */
      readonly boxes: string | null
    }

const ROUNDS_DEFAULT = '3'
const TURNS_DEFAULT = '1000000'

/** The chosen suites in the order of `texts`. Throws `UsageError`. */
export function readOptions<Name extends string>(
  args: string[],
  texts: Readonly<Record<Name, SuiteText>>,
): Options<Name> {
  const { values, positionals } = readArguments({
    args,
    allowPositionals: true,
    options: {
      only: { type: 'string' },
      rounds: { type: 'string', default: ROUNDS_DEFAULT },
      turns: { type: 'string', default: TURNS_DEFAULT },
      boxes: { type: 'string' },
    },
  })
  const [command, folder, ...more] = positionals
  if (command === 'retrieval' && folder && more.length === 0) return { kind: 'retrieval', folder }
  if (command === 'retrieval') throw new UsageError('retrieval takes one folder of question sets')
  if (command !== undefined) throw new UsageError(`there is no command ${command}`)
  const all = Object.keys(texts) as Name[]
  const only = values.only?.split(',').map((name) => name.trim())
  const unknown = only?.find((name) => !all.some((known) => known === name))
  if (unknown !== undefined) {
    throw new UsageError(`there is no suite "${unknown}"; there are ${all.join(', ')}`)
  }
  const suites = all.filter((name) => (only ? only.includes(name) : !texts[name].optIn))
  const rounds = wholeNumber('--rounds', values.rounds, 1, 99)
  const turns = wholeNumber('--turns', values.turns, 10_000, 10_000_000)
  if (values.boxes === '') throw new UsageError('--boxes takes a folder')
  const boxes = values.boxes === undefined ? null : resolve(values.boxes)
  return { kind: 'suites', suites, rounds, turns, boxes }
}

/** The text of --help. */
export function helpText(texts: Readonly<Record<string, SuiteText>>): string {
  const names = Object.keys(texts)
  const width = Math.max(...names.map((name) => name.length))
  const list = (optIn: boolean) =>
    Object.entries(texts)
      .filter(([, text]) => (text.optIn ?? false) === optIn)
      .map(([name, { about }]) => `  ${name.padEnd(width)}  ${about}`)
      .join('\n')
  return `Measures Moonbase beside references that do the same work, in one run, as ratios.

  npm run bench                            every suite but those of the second list
  npm run bench -- --only agent,kb         some suites
  npm run bench -- --rounds 5              measures of each (${ROUNDS_DEFAULT}); medians are shown
  npm run bench -- --only growth --turns 100000
                                           a smaller box (${TURNS_DEFAULT} turns)
  npm run bench -- --only growth,passages --boxes FOLDER
                                           fills what growth and passages measure once, and keeps
                                           it in the folder for the runs of the next 20 hours
  npm run bench -- retrieval FOLDER        recall of the knowledge base on folders of questions

Suites
${list(false)}

Only by their names
${list(true)}

$MOONBASE_BIN names the executable to measure; without it the sources run under this Bun.
$MOONBASE_BENCH_DATABASE names an empty PostgreSQL database for growth, or is "start". Figures of
memory and processor time need Linux. References: "bare Bun.serve" answers two letters; "relay-raw"
relays a turn and does no more; "relay-full" also looks the key up, reads the history and stores the
turn.
`
}
