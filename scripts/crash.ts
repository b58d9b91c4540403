// Kills the server many times under mixed load and checks every acknowledged write. See --help.
import { crash } from '../test/support/crash.ts'
import { crashReplicas } from '../test/support/crash-replicas.ts'
import { crashSchedules } from '../test/support/crash-schedules.ts'
import { readArguments, runScript, wholeNumber } from './usage.ts'

const HELP = `Kills the server many times under mixed load and checks every acknowledged write.

  bun scripts/crash.ts [--rounds 300] [--seed 1]
  bun scripts/crash.ts --postgres [--minutes 30] [--seed 1]
  bun scripts/crash.ts --schedules [--postgres] [--minutes 3] [--seed 1]

  --rounds N    number of kills (300)
  --postgres    two servers on one PostgreSQL, and that itself, are killed in turn
  --schedules   servers are killed before, at and after the times of schedules
  --minutes N   how long (30)
  --seed N      seed of the random load (1)

$MOONBASE_BIN names the executable; without it the sources run under this Bun. Ends with 1 when an
acknowledged write was lost.
`
const LIFE_MS = { least: 20, most: 800 }
/** Long enough that turns wait for a dead server. */
const REPLICA_LIFE_MS = { least: 500, most: 8_000 }

function readOptions(args: string[]) {
  const { values } = readArguments({
    args,
    options: {
      rounds: { type: 'string', default: '300' },
      seed: { type: 'string', default: '1' },
      postgres: { type: 'boolean', default: false },
      schedules: { type: 'boolean', default: false },
      minutes: { type: 'string', default: '30' },
    },
  })
  return {
    postgres: values.postgres,
    schedules: values.schedules,
    minutes: wholeNumber('--minutes', values.minutes, 1, 10_000),
    rounds: wholeNumber('--rounds', values.rounds, 1, 1_000_000),
    seed: wholeNumber('--seed', values.seed, 0, 2 ** 32 - 1),
  }
}

const tell = (line: string) => process.stdout.write(`${line}\n`)

const killOne = (options: ReturnType<typeof readOptions>) =>
  crash({
    ...options,
    lifeMs: LIFE_MS,
    onRound(round, { acknowledged }, faults) {
      if (round % 10 > 0) return
      const { turns, docs, devices, keys } = acknowledged
      tell(
        `${round} kills: ${turns} turns, ${docs} documents, ${devices} devices, ${keys} keys ` +
          `acknowledged; ${faults.length} lost`,
      )
    },
  })

const killReplicas = (options: ReturnType<typeof readOptions>) =>
  crashReplicas({
    ...options,
    lifeMs: REPLICA_LIFE_MS,
    onChecked: (report) => tell(JSON.stringify(report)),
  })

const killScheduled = (options: ReturnType<typeof readOptions>) =>
  crashSchedules({ ...options, onChecked: (report) => tell(JSON.stringify(report)) })

await runScript(HELP, async (args) => {
  const options = readOptions(args)
  const begin = performance.now()
  const kill = options.schedules ? killScheduled : options.postgres ? killReplicas : killOne
  const report = await kill(options)
  const minutes = ((performance.now() - begin) / 60_000).toFixed(1)
  tell(`${JSON.stringify(report)}\n${minutes} minutes`)
  process.exitCode = report.faults.length > 0 ? 1 : 0
})
