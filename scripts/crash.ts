// Kills the server many times under mixed load and looks for every acknowledged write:
//   bun scripts/crash.ts --rounds 300 [--seed 1]
import { parseArgs } from 'node:util'
import { crash } from '../test/support/crash.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
  },
})
const begin = performance.now()
const report = await crash({
  rounds: Number(values.rounds),
  seed: Number(values.seed),
  lifeMs: { least: 20, most: 800 },
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
