// `npm run bench`: measures the product and references that do the same work, as ratios of one
// run. See --help.
import { availableParallelism, loadavg } from 'node:os'
import { runScript } from '../usage.ts'
import { benchAgent } from './agent.ts'
import { benchDetached } from './detached.ts'
import { benchDoors } from './doors.ts'
import { benchHttp } from './http.ts'
import { benchKb } from './kb.ts'
import { helpText, type Options, readOptions, type SuiteText } from './options.ts'
import { benchPassages } from './passages.ts'
import { type Product, prepareProduct, startUpstream, type Upstream } from './programs.ts'
import { type Row, report, type Section } from './report.ts'
import { benchRetrieval } from './retrieval.ts'
import { benchStart } from './start.ts'
import { short } from './stats.ts'
import { benchTalks } from './talks.ts'

type Filled = Pick<Extract<Options<string>, { kind: 'suites' }>, 'turns' | 'boxes'>

interface Suite extends SuiteText {
  readonly measure: (
    upstream: Upstream,
    product: Product,
    rounds: number,
    filled: Filled,
  ) => Promise<Row[]>
}

const SUITES = {
  start: { about: 'start to the first answer, memory when idle', measure: benchStart },
  http: { about: 'light endpoints, with a key and without', measure: benchHttp },
  agent: {
    about: 'turns: first token, tokens, turns a second, memory of a stream',
    measure: benchAgent,
  },
  doors: {
    about: 'processor time of the same turn through the doors of other clients',
    measure: benchDoors,
  },
  detached: {
    about: 'turns of people that go on when their reader leaves',
    measure: (upstream, _product, rounds) => benchDetached(upstream, rounds),
  },
  kb: {
    about: 'streams beside uploads, vectors for clients',
    measure: benchKb,
  },
  growth: {
    about: 'conversations and log of one tenant with a million turns; needs 4 GB of disk',
    measure: (upstream, _product, _rounds, filled) =>
      benchTalks(upstream, { ...filled, database: process.env.MOONBASE_BENCH_DATABASE }),
    optIn: true,
  },
  passages: {
    about: 'search of 10,000, 100,000 and 1,000,000 passages of one tenant; needs 8 GB of disk',
    measure: (_upstream, _product, _rounds, { boxes }) => benchPassages(boxes),
    optIn: true,
  },
} as const satisfies Record<string, Suite>
type SuiteName = keyof typeof SUITES

async function measure(names: readonly SuiteName[], rounds: number, filled: Filled): Promise<void> {
  const begin = performance.now()
  const suites = names.map((name): [string, Suite] => [name, SUITES[name]])
  await using upstream = await startUpstream()
  using product = await prepareProduct(upstream.url)
  const sections: Section[] = []
  for (const [name, suite] of suites) {
    process.stderr.write(`measuring ${name} ...\n`)
    sections.push([name, await suite.measure(upstream, product, rounds, filled)])
  }
  const subject = process.env.MOONBASE_BIN ?? 'bun src/main.ts'
  const seconds = Math.round((performance.now() - begin) / 1_000)
  // A load above one a core means other work on the machine: only the ratios are meaningful.
  const load = short(loadavg()[0] ?? Number.NaN)
  const machine = `${availableParallelism()} cores, load ${load}`
  const times = `${rounds} ${rounds === 1 ? 'round' : 'rounds'}`
  const head = `${subject}, medians of ${times}, ${seconds} s, ${machine}`
  process.stdout.write(`\n${head}\n\n${report(sections)}`)
}

await runScript(helpText(SUITES), async (args) => {
  const options = readOptions(args, SUITES)
  if (options.kind === 'retrieval') await benchRetrieval(options.folder)
  else await measure(options.suites, options.rounds, options)
})
