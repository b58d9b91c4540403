// Load for minutes on one server, watching its memory and its promptness:
//   bun scripts/soak.ts --minutes 10                  a mix of everything
//   bun scripts/soak.ts --only devices --minutes 1    twenty devices in use
// $MOONBASE_BIN names the executable; without it the sources run under this Bun. Exits with 1 when
// something was answered wrongly, when memory at the end is more than a fifth above what it was a
// third of the way in, or when it ever goes beyond the scenario's bound.
import { parseArgs } from 'node:util'
import { createKey } from '../test/support/key.ts'
import { startServer } from '../test/support/server.ts'
import { tempFolder } from '../test/support/temp.ts'
import { residentKb } from './bench/process-usage.ts'
import { devices } from './soak/devices.ts'
import { mixed } from './soak/mixed.ts'

const SCENARIOS = { mixed, devices } as const
const SAMPLES_MIN = 6
const EVERY_MS_MAX = 10_000
const GROWTH_MAX = 1.2
const FAULTS_SHOWN = 10

function readOptions() {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '10' },
      only: { type: 'string', default: 'mixed' },
    },
  })
  const { only } = values
  const open = Object.entries(SCENARIOS).find(([name]) => name === only)?.[1]
  if (!open) throw new Error(`there are ${Object.keys(SCENARIOS).join(', ')}, and no ${only}`)
  const ms = Number(values.minutes) * 60_000
  if (!(ms > 0)) throw new Error('--minutes is a number')
  const everyMs = Math.min(EVERY_MS_MAX, ms / (2 * SAMPLES_MIN))
  return { open, everyMs, samples: Math.round(ms / everyMs) }
}

const { open, everyMs, samples } = readOptions()
const scenario = await open()
using folder = tempFolder()
const { env } = scenario
const { headers } = await createKey(folder.path, { env })
const server = await startServer({ dataDir: folder.path, env })
const running = await scenario.start(server, headers)

const memory: number[] = []
for (let sample = 1; sample <= samples; sample++) {
  await Bun.sleep(everyMs)
  const begin = performance.now()
  await (await fetch(`${server.url}/healthz`)).text()
  const ms = performance.now() - begin
  memory.push(residentKb(server.pid) / 1024)
  process.stdout.write(
    `${((sample * everyMs) / 1000).toFixed(0)} s  ${memory.at(-1)?.toFixed(0)} MiB  healthz ` +
      `${ms.toFixed(1)} ms  ${running.progress()}\n`,
  )
}
const faults = await running.stop()
const code = await server.stop()
await scenario.close()

const third = Math.ceil(samples / 3)
const early = Math.max(...memory.slice(0, third))
const late = Math.max(...memory.slice(-third))
const most = Math.max(...memory)
const { residentMibMax } = scenario
for (const fault of faults.slice(0, FAULTS_SHOWN)) process.stdout.write(`${fault}\n`)
process.stdout.write(
  `memory: first third at most ${early.toFixed(0)} MiB, last third ${late.toFixed(0)} MiB, ` +
    `bound ${residentMibMax} MiB; ${faults.length} faults; stopped with ${code}\n`,
)
const well = code === 0 && faults.length === 0 && late < early * GROWTH_MAX && most < residentMibMax
process.exit(well ? 0 : 1)
