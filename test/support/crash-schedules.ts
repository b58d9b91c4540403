import type { Run } from '../../src/features/runs/model.ts'
import { type Call, caller } from './api.ts'
import { createFacts } from './crash-facts.ts'
import { randomFrom } from './crash-ledger.ts'
import { createKey } from './key.ts'
import { startCluster } from './postgres-cluster.ts'
import { type Server, startServer } from './server.ts'
import { SHARED_SECRETS, sharing } from './sharing.ts'
import { tempFolder } from './temp.ts'
import { startUpstream } from './upstream.ts'
import { make, type Sink, startSink } from './webhooks.ts'

export interface ScheduleCrashOptions {
  readonly minutes: number
  readonly seed: number
  /** Two servers on one PostgreSQL; else one on a file. */
  readonly postgres: boolean
  readonly onChecked?: (report: ScheduleCrashReport) => void
}

export interface ScheduleCrashReport {
  readonly kills: number
  readonly schedules: number
  readonly done: number
  /** A model call had begun when the server died: not begun again. */
  readonly interrupted: number
  readonly doubled: number
  readonly lost: number
  /** Runs whose end no webhook was told. */
  readonly untold: number
  /** Facts that were acknowledged, and facts that are otherwise than was acknowledged. */
  readonly facts: number
  readonly misremembered: number
  readonly faults: readonly string[]
}

/** Schedules of a round, and over how many seconds their times lie. */
const SCHEDULES = 40
const SECONDS = 10
const KILLS = 5
const OVER = new Set(['done', 'failed', 'missed', 'canceled'])
/** A server that has died is believed for a minute. */
const SETTLE_MS_MAX = 150_000

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/**
 * Kills servers before, at and after the times of schedules. Each time has one run, no run asks the
 * model twice, and each end is told to a webhook. Facts that are told and deleted meanwhile are as
 * was acknowledged.
 */
export async function crashSchedules(options: ScheduleCrashOptions): Promise<ScheduleCrashReport> {
  const upstream = await startUpstream()
  using sink = startSink()
  await using cluster = options.postgres ? await startCluster() : null
  const folders = options.postgres ? [tempFolder(), tempFolder()] : [tempFolder()]
  const env = {
    ...(cluster ? sharing(cluster.url) : SHARED_SECRETS),
    MB_LLM_BASE_URL: upstream.baseUrl,
    MB_LLM_MODEL: 'fake',
    MB_EMBED_BASE_URL: upstream.baseUrl,
    MB_EMBED_MODEL: 'fake',
    MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1',
  }
  const start = (dataDir: string) => startServer({ dataDir, env })
  const servers: Server[] = []
  for (const { path } of folders) servers.push(await start(path))
  const { headers } = await createKey(folders[0]?.path ?? '', { env })
  const call: Call = (...asked) => caller(`${servers[0]?.url}/v1`, headers)(...asked)
  const random = randomFrom(options.seed)
  const report = {
    ...{ kills: 0, schedules: 0, done: 0, interrupted: 0, doubled: 0, lost: 0, untold: 0 },
    ...{ facts: 0, misremembered: 0 },
    faults: [] as string[],
  }
  const killOne = async () => {
    const at = Math.floor(random() * servers.length)
    const server = servers[at]
    if (!server) return
    await server.kill()
    report.kills++
    servers[at] = await start(server.dataDir)
  }
  const until = performance.now() + options.minutes * 60_000
  const events = ['run.done', 'run.failed']
  const hook = await make(call, sink.url, { events })
  const facts = createFacts(() => servers[Math.floor(random() * servers.length)]?.url, headers)
  try {
    for (let round = 0; performance.now() < until; round++) {
      const ids = await fill(call, round, hook.id)
      const telling = facts.tell(round)
      for (let kill = 0; kill < KILLS; kill++) {
        await pause((SECONDS * 1_000 * random()) / KILLS)
        await killOne()
      }
      await telling.stop()
      await check({ call, ids, round, asked: upstream.requests, sink }, report)
      await facts.check(report)
      upstream.reset()
      options.onChecked?.(report)
    }
    return report
  } finally {
    for (const server of servers) await server.kill()
    await upstream.stop()
    for (const folder of folders) folder[Symbol.dispose]()
  }
}

const textOf = (round: number, number: number) => `round ${round} number ${number}`

/** Schedules whose times come within the next seconds. */
async function fill(call: Call, round: number, hook: string): Promise<string[]> {
  const begin = Date.now() + 2_000
  const ids: string[] = []
  for (let number = 0; number < SCHEDULES; number++) {
    const at = new Date(begin + (SECONDS * 1_000 * number) / SCHEDULES).toISOString()
    const name = `r${round} ${number}`
    const body = { name, text: textOf(round, number), at, webhook_ids: [hook] }
    ids.push((await call<{ id: string }>('POST', '/schedules', body)).json().id)
  }
  return ids
}

interface Round {
  readonly call: Call
  readonly ids: readonly string[]
  readonly round: number
  readonly sink: Sink
  readonly asked: readonly { readonly body: { readonly messages?: unknown } }[]
}

type Counting = {
  -readonly [Name in keyof ScheduleCrashReport]: ScheduleCrashReport[Name]
} & { faults: string[] }

/** Waits until every run is over, and compares. */
async function check({ call, ids, round, asked, sink }: Round, report: Counting): Promise<void> {
  const until = performance.now() + SETTLE_MS_MAX
  const runsOf = async (id: string) =>
    (await call<{ runs: Run[] }>('GET', `/runs?schedule_id=${id}`)).json().runs
  for (const [number, id] of ids.entries()) {
    let runs = await runsOf(id)
    while (performance.now() < until && !(runs[0] && OVER.has(runs[0].status))) {
      await pause(500)
      runs = await runsOf(id)
    }
    const [run, ...more] = runs
    const text = textOf(round, number)
    const times = asked.filter(({ body }) => JSON.stringify(body).includes(`"${text}"`)).length
    report.schedules++
    const isInterrupted = run?.error_class === 'interrupted'
    if (run?.status === 'done') report.done++
    else if (isInterrupted) report.interrupted++
    else {
      report.lost++
      report.faults.push(`${text}: ${run?.status ?? 'no run'} ${run?.error_class ?? ''}`)
    }
    if (more.length > 0 || times > 1) {
      report.doubled++
      report.faults.push(`${text}: ${runs.length} runs, asked ${times} times`)
    }
    const isTold = () => sink.received.some(({ body }) => body.includes(`"${run?.id}"`))
    while (!isTold() && performance.now() < until) await pause(100)
    if (!isTold()) {
      report.untold++
      report.faults.push(`${text}: no webhook was told`)
    }
    await call('DELETE', `/schedules/${id}`)
  }
}
