// `npm run bench`: the product beside references that do the same work, in one run, as ratios.
//   --only agent,kb           some of the suites        --rounds 3   measures of each
//   retrieval FOLDER         recall of the knowledge base on a folder of question sets
// $MOONBASE_BIN names the executable to measure; without it the sources run under this Bun.
import { availableParallelism, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { benchAgent } from './agent.ts'
import { benchConsole } from './console.ts'
import { benchFailover } from './failover.ts'
import { benchHttp } from './http.ts'
import { benchKb } from './kb.ts'
import { benchLogs } from './logs.ts'
import { prepareProduct, startUpstream } from './programs.ts'
import { type Row, report } from './report.ts'
import { benchRetrieval } from './retrieval.ts'
import { benchStart } from './start.ts'
import { short } from './stats.ts'
import { benchVoice } from './voice.ts'

const SUITES = {
  start: benchStart,
  http: benchHttp,
  agent: benchAgent,
  failover: benchFailover,
  console: benchConsole,
  kb: benchKb,
  logs: benchLogs,
  voice: benchVoice,
} as const
type SuiteName = keyof typeof SUITES
const NAMES = Object.keys(SUITES) as SuiteName[]

function readOptions(): { suites: SuiteName[]; rounds: number } {
  const { values } = parseArgs({
    options: { only: { type: 'string' }, rounds: { type: 'string', default: '3' } },
  })
  const only = values.only?.split(',') ?? NAMES
  const unknown = only.find((name) => !NAMES.some((known) => known === name))
  if (unknown) throw new Error(`unknown suite ${unknown}; there are ${NAMES.join(', ')}`)
  if (!/^[1-9]\d?$/.test(values.rounds)) throw new Error('--rounds is a number from 1 to 99')
  return { suites: NAMES.filter((name) => only.includes(name)), rounds: Number(values.rounds) }
}

async function main() {
  const { suites, rounds } = readOptions()
  const begin = performance.now()
  await using upstream = await startUpstream()
  using product = await prepareProduct(upstream.url)
  const rows: Row[] = []
  for (const name of suites) {
    process.stderr.write(`measuring ${name} ...\n`)
    rows.push(...(await SUITES[name](upstream, product, rounds)))
  }
  const subject = process.env.MOONBASE_BIN ?? 'bun src/main.ts'
  const seconds = Math.round((performance.now() - begin) / 1_000)
  // Above one a core, the machine has other work, and only the ratios still say something.
  const load = short(loadavg()[0] ?? Number.NaN)
  const machine = `${availableParallelism()} cores, load ${load}`
  const head = `${subject}, medians of ${rounds} rounds, ${seconds} s, ${machine}`
  process.stdout.write(`\n${head}\n\n${report(rows)}`)
}

const [command, folder = ''] = process.argv.slice(2)
await (command === 'retrieval' ? benchRetrieval(folder) : main())
