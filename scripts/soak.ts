// Loads one server for minutes and watches its memory and response time. See --help.
import { createKey } from '../test/support/key.ts'
import { startCluster } from '../test/support/postgres-cluster.ts'
import { type Server, startServer } from '../test/support/server.ts'
import { sharing } from '../test/support/sharing.ts'
import { tempFolder } from '../test/support/temp.ts'
import { ownKb, residentKb } from './bench/process-usage.ts'
import { boards } from './soak/boards.ts'
import { devices } from './soak/devices.ts'
import { mixed } from './soak/mixed.ts'
import type { Running } from './soak/scenario.ts'
import { readArguments, runScript, UsageError, wholeNumber } from './usage.ts'

const HELP = `Loads one server for minutes and watches its memory and response time.

  bun scripts/soak.ts [--only mixed] [--minutes 10] [--kills 2]

  --only NAME     mixed: turns, documents, devices, other doors, searches, schedules, sign-ins,
                  boards and misbehaving clients (mixed)
                  devices: twenty devices that talk, interrupt, lose their keys and pair again
                  boards: twenty xiaozhi boards that talk, type, interrupt and reconnect
  --minutes N     duration, such as 0.5 (10)
  --kills N       kills the server so many times, at equal distances, and starts it again on its
                  folder; what it has acknowledged must be there. Only with mixed (0)
  --postgres      two servers on one PostgreSQL, which are killed together. Only with mixed

$MOONBASE_BIN names the executable; without it the sources run under this Bun. Memory figures need
Linux: what is resident, and what of it is no page of a file, since pages of the growing database
stay resident until the memory is wanted. Ends with 1 after a wrong answer, when either in the last
third is more than a fifth above the first third, or when memory exceeded the limit of the scenario.
`

const SCENARIOS = { mixed, devices, boards } as const
const MINUTES_MAX = 7 * 24 * 60
const SAMPLES_MIN = 6
const EVERY_MS_MAX = 10_000
const GROWTH_MAX = 1.2
const FAULTS_SHOWN = 10

function readOptions(args: string[]) {
  const { values } = readArguments({
    args,
    options: {
      minutes: { type: 'string', default: '10' },
      only: { type: 'string', default: 'mixed' },
      kills: { type: 'string', default: '0' },
      postgres: { type: 'boolean', default: false },
    },
  })
  const { only, postgres } = values
  const kills = wholeNumber('--kills', values.kills, 0, 1_000)
  if (only !== 'mixed' && (kills > 0 || postgres)) {
    throw new UsageError('--kills and --postgres go only with mixed')
  }
  const open = Object.entries(SCENARIOS).find(([name]) => name === only)?.[1]
  if (!open) {
    const names = Object.keys(SCENARIOS).join(', ')
    throw new UsageError(`there is no scenario "${only}"; there are ${names}`)
  }
  const minutes = /^\d+(\.\d+)?$/.test(values.minutes) ? Number(values.minutes) : Number.NaN
  if (!(minutes > 0 && minutes <= MINUTES_MAX)) {
    throw new UsageError(`--minutes is a number above 0, ${MINUTES_MAX} at most`)
  }
  const ms = minutes * 60_000
  const lives = kills + 1
  const everyMs = Math.min(EVERY_MS_MAX, ms / (2 * SAMPLES_MIN * lives))
  return { open, postgres, everyMs, lives, samples: Math.round(ms / everyMs / lives) }
}

type Options = ReturnType<typeof readOptions>

/** Resident memory of the server that has most, and what of it is no page of a file, in MiB. */
interface Memory {
  readonly resident: number
  readonly own: number
}

/** Samples memory; prints each sample with the response time. */
async function watch(
  servers: readonly Server[],
  running: Running,
  { samples, everyMs }: Pick<Options, 'samples' | 'everyMs'>,
) {
  const memory: Memory[] = []
  for (let sample = 1; sample <= samples; sample++) {
    await Bun.sleep(everyMs)
    const begin = performance.now()
    await Promise.all(servers.map(async ({ url }) => (await fetch(`${url}/healthz`)).text()))
    const ms = performance.now() - begin
    const resident = Math.max(...servers.map(({ pid }) => residentKb(pid) / 1024))
    const own = Math.max(...servers.map(({ pid }) => ownKb(pid) / 1024))
    memory.push({ resident, own })
    process.stdout.write(
      `${((sample * everyMs) / 1000).toFixed(0)} s  ${resident.toFixed(0)} MiB, ${own.toFixed(0)} ` +
        `own  healthz ${ms.toFixed(1)} ms  ${running.progress()}\n`,
    )
  }
  return memory
}

/** Whether memory stayed below the limit and did not grow; prints the figures. */
function judge(memory: readonly Memory[], residentMibMax: number): boolean {
  const third = Math.ceil(memory.length / 3)
  let isSteady = true
  for (const kind of ['resident', 'own'] as const) {
    const samples = memory.map((sample) => sample[kind])
    const early = Math.max(...samples.slice(0, third))
    const late = Math.max(...samples.slice(-third))
    process.stdout.write(
      `${kind} memory: first third at most ${early.toFixed(0)} MiB, last third ` +
        `${late.toFixed(0)} MiB, bound ${residentMibMax} MiB\n`,
    )
    isSteady &&= late < early * GROWTH_MAX && Math.max(...samples) < residentMibMax
  }
  return isSteady
}

await runScript(HELP, async (args) => {
  const options = readOptions(args)
  const scenario = await options.open()
  await using cluster = options.postgres ? await startCluster() : null
  using first = tempFolder()
  using second = tempFolder()
  const folders = cluster ? [first.path, second.path] : [first.path]
  const env = { ...scenario.env, ...(cluster ? sharing(cluster.url) : {}) }
  const { headers } = await createKey(first.path, { env })
  const memory: Memory[] = []
  const faults: string[] = []
  const codes: number[] = []
  for (let life = 1; life <= options.lives; life++) {
    const servers: Server[] = []
    for (const dataDir of folders) servers.push(await startServer({ dataDir, env }))
    const running = await scenario.start(servers, headers)
    memory.push(...(await watch(servers, running, options)))
    const isLast = life === options.lives
    // The clients end with the server.
    if (!isLast) await Promise.all(servers.map((server) => server.kill()))
    faults.push(...(await running.stop()))
    if (!isLast) process.stdout.write(`kill ${life}; ${faults.length} faults\n`)
    else codes.push(...(await Promise.all(servers.map((server) => server.stop()))))
  }
  await scenario.close()
  await cluster?.kill()
  for (const fault of faults.slice(0, FAULTS_SHOWN)) process.stdout.write(`${fault}\n`)
  const steady = judge(memory, scenario.residentMibMax)
  process.stdout.write(`${faults.length} faults; stopped with ${codes}\n`)
  const isClean = codes.every((code) => code === 0) && faults.length === 0
  // Does not wait for the clients of a scenario, which keep calling a stopped server.
  process.exit(steady && isClean ? 0 : 1)
})
