import type { Mark, Module } from '../module.ts'
import { findings, moduleRule, type Rule } from '../rule.ts'
import { isTest, mayTouchMachine, zoneOf } from '../zones.ts'

const MACHINE: readonly (readonly [RegExp, string])[] = [
  [/^(fetch|WebSocket|XMLHttpRequest|EventSource|Bun\.fetch)$/, 'take `fetch` as an argument'],
  [/^(process|globalThis)(\.|$)|^(Bun|import\.meta)\.env$/, 'take the value as an argument'],
  [/^(Date\.now|new Date\(\))$/, 'take a Clock as an argument'],
  [/^Math\.random$/, 'take the randomness as an argument, or use core/ids and core/crypto'],
  [/^(setTimeout|setInterval|Bun\.sleep)$/, 'use the Clock argument: sleep, after, every'],
]
const MACHINE_MODULES = /^(node:)?(process|timers)(\/promises)?$/

/** Marks of a module that reach for the machine, each with its mend. */
function machineUses(module: Module): { mark: Mark; mend: string }[] {
  const used = module.globals.flatMap((mark) => {
    const mend = MACHINE.find(([pattern]) => pattern.test(mark.text))?.[1]
    return mend ? [{ mark, mend }] : []
  })
  const imported = module.imports
    .filter(({ specifier, typeOnly }) => !typeOnly && MACHINE_MODULES.test(specifier))
    .map(({ specifier, line }) => ({
      mark: { text: specifier, line },
      mend: 'take the value or the Clock as an argument',
    }))
  return [...used, ...imported]
}

const machine = moduleRule('only roots and core touch clock, network and process', (module) =>
  !module.path.startsWith('src/') || mayTouchMachine(module.path)
    ? []
    : machineUses(module).flatMap(({ mark, mend }) =>
        findings(module, [mark], (text) => `uses global ${text}: ${mend}`),
      ),
)

const quiet = moduleRule('console is for core/log.ts alone', (module) =>
  module.path === 'src/core/log.ts'
    ? []
    : findings(
        module,
        module.globals.filter(({ text }) => /^console(\.|$)/.test(text)),
        (text) => `calls ${text}: log through the Logger argument, or write to process.stdout`,
      ),
)

const STATEMENT = new RegExp(
  [
    String.raw`SELECT\s[\s\S]+\sFROM\s`,
    String.raw`INSERT\s+(OR\s+\w+\s+)?INTO\s`,
    String.raw`UPDATE\s+\w+\s+SET\s`,
    String.raw`DELETE\s+FROM\s`,
    String.raw`(CREATE|DROP|ALTER)\s+(VIRTUAL\s+)?(TABLE|INDEX|VIEW|TRIGGER)\s`,
    String.raw`(PRAGMA|VACUUM)\b`,
    String.raw`WITH\s+\w+\s+AS\s*\(`,
  ]
    .map((start) => String.raw`^\s*${start}`)
    .join('|'),
)

const mayHoldSql = (path: string) =>
  path.startsWith('src/storage/') || /(^|[-/])store(-[\w-]+)?\.ts$/.test(path) || isTest(path)

const sqlText = moduleRule('SQL stays in store.ts and storage/', (module) =>
  !module.path.startsWith('src/') || mayHoldSql(module.path)
    ? []
    : findings(
        module,
        module.texts.filter(({ text }) => STATEMENT.test(text)),
        () => 'holds SQL: move the statement into the store.ts of its feature',
      ),
)

const WEB_NETWORK = /^(fetch|XMLHttpRequest|EventSource|WebSocket|navigator\.sendBeacon)$/

const webFetch = moduleRule('the console fetches in web/api alone', (module) =>
  zoneOf(module.path) !== 'web' ||
  isTest(module.path) ||
  /^web\/api([-.\w]*|\/.*)$/.test(module.path)
    ? []
    : findings(
        module,
        module.globals.filter(({ text }) => WEB_NETWORK.test(text)),
        (text) => `uses ${text}: call a function of web/api`,
      ),
)

/** Numbers and nothing else, so that the console refuses what the server would refuse. */
const SHARED = 'src/core/limits/'

const webTypes = moduleRule('the console imports types only from src/, and limits', (module) =>
  zoneOf(module.path) !== 'web'
    ? []
    : module.imports
        .filter(
          ({ target, typeOnly }) =>
            target?.startsWith('src/') && !target.startsWith(SHARED) && !typeOnly,
        )
        .map(({ line, target }) => ({
          path: module.path,
          line,
          message: `imports ${target} at run time: write \`import type\``,
        })),
)

export const machineRules: readonly Rule[] = [machine, quiet, sqlText, webFetch, webTypes]
