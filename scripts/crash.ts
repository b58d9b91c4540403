// Kills the server many times under mixed load and checks every acknowledged write. See --help.
import { crash } from '../test/support/crash.ts'
import { readArguments, runScript, wholeNumber } from './usage.ts'

const HELP = `Kills the server many times under mixed load and checks every acknowledged write.

  bun scripts/crash.ts [--rounds 300] [--seed 1]

  --rounds N   number of kills (300)
  --seed N     seed of the random load (1)

$MOONBASE_BIN names the executable; without it the sources run under this Bun. Ends with 1 when an
acknowledged write was lost.
`
const LIFE_MS = { least: 20, most: 800 }

function readOptions(args: string[]) {
  const { values } = readArguments({
    args,
    options: {
      rounds: { type: 'string', default: '300' },
      seed: { type: 'string', default: '1' },
    },
  })
  return {
    rounds: wholeNumber('--rounds', values.rounds, 1, 1_000_000),
    seed: wholeNumber('--seed', values.seed, 0, 2 ** 32 - 1),
  }
}

await runScript(HELP, async (args) => {
  const options = readOptions(args)
  const begin = performance.now()
  const report = await crash({
    ...options,
    lifeMs: LIFE_MS,
    onRound(round, { acknowledged }, faults) {
      if (round % 10 > 0) return
      const { turns, docs, devices, keys } = acknowledged
      process.stdout.write(
        `${round} kills: ${turns} turns, ${docs} documents, ${devices} devices, ${keys} keys ` +
          `acknowledged; ${faults.length} lost\n`,
      )
    },
  })
  const minutes = ((performance.now() - begin) / 60_000).toFixed(1)
  process.stdout.write(`${JSON.stringify(report)}\n${minutes} minutes\n`)
  process.exitCode = report.faults.length > 0 ? 1 : 0
})
