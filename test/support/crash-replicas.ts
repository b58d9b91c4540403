import {
  DOCUMENT_ENV,
  emptyKb,
  fillDocuments,
  type SentDocuments,
  verifyDocuments,
} from './crash-documents.ts'
import { randomFrom } from './crash-ledger.ts'
import { compareTurns, fillSessions, type Sending, type SentTurns } from './crash-sessions.ts'
import { createKey } from './key.ts'
import { askPostgres } from './postgres-client.ts'
import { type Cluster, startCluster } from './postgres-cluster.ts'
import { type Server, startServer } from './server.ts'
import { sharing } from './sharing.ts'
import { tempFolder } from './temp.ts'

export interface ReplicaCrashOptions {
  readonly minutes: number
  readonly seed: number
  /** Between two kills, in milliseconds of load. */
  readonly lifeMs: { readonly least: number; readonly most: number }
  readonly onChecked?: (report: ReplicaCrashReport) => void
}

export interface ReplicaCrashReport {
  readonly kills: Record<Victim, number>
  readonly turns: number
  /** Turns whose client received no end; some of them are stored. */
  readonly doubtful: number
  readonly doubtfulStored: number
  readonly activations: number
  /** Acknowledged documents, and the number of searches for them. */
  readonly documents: number
  readonly searches: number
  readonly longestTurnMs: number
  readonly faults: readonly string[]
}

type Victim = 'one server' | 'one server, politely' | 'the database'

const WORKERS = 6
const DOCUMENT_WORKERS = 2
/** Kills between two checks of everything that was acknowledged. */
const KILLS_A_CHECK = 8

/** Two servers of one database, any of which may be killed. */
async function startWorld(cluster: Cluster, folders: readonly string[]) {
  const env = {
    ...sharing(cluster.url),
    MB_TRUST_PROXY: '1',
    ...DOCUMENT_ENV,
  }
  const start = (dataDir: string) => startServer({ dataDir, env })
  const servers: Server[] = []
  for (const folder of folders) servers.push(await start(folder))
  const urls = servers.map(({ url }) => url)
  const { headers } = await createKey(folders[0] ?? '', { env })

  async function restart(at: number, kill: (server: Server) => Promise<unknown>): Promise<void> {
    const server = servers[at]
    if (!server) return
    await kill(server)
    const fresh = await start(server.dataDir)
    servers[at] = fresh
    urls[at] = fresh.url
  }

  return {
    headers,
    urls,
    restart,
    stop: () => Promise.all(servers.map((server) => server.kill())),
  }
}

type World = Awaited<ReturnType<typeof startWorld>>

/**
 * Kills servers and their database in turn under load. Nothing that was acknowledged may be lost,
 * no turn may be stored twice or before an earlier answered one, no activation code may give two
 * keys, and no turn may wait for ever.
 */
export async function crashReplicas(options: ReplicaCrashOptions): Promise<ReplicaCrashReport> {
  using first = tempFolder()
  using second = tempFolder()
  await using cluster = await startCluster()
  const world = await startWorld(cluster, [first.path, second.path])
  const random = randomFrom(options.seed)
  const sessions: SentTurns = new Map()
  const kills: Record<Victim, number> = {
    'one server': 0,
    'one server, politely': 0,
    'the database': 0,
  }
  const report = {
    ...{ kills, turns: 0, doubtful: 0, doubtfulStored: 0, activations: 0, longestTurnMs: 0 },
    ...{ documents: 0, searches: 0 },
    faults: [] as string[],
  }
  const until = performance.now() + options.minutes * 60_000
  try {
    for (let check = 0; performance.now() < until && report.faults.length === 0; check++) {
      const documents: SentDocuments = new Map()
      const parts = { world, cluster, random, sessions, documents, report, check }
      await loadAndKill({ ...options, until }, parts)
      report.doubtfulStored += await verify(cluster.url, parts)
      sessions.clear()
      options.onChecked?.(report)
    }
  } finally {
    await world.stop()
  }
  return report
}

interface Parts {
  readonly world: World
  readonly cluster: Cluster
  readonly random: () => number
  readonly sessions: SentTurns
  readonly documents: SentDocuments
  readonly report: { -readonly [Key in keyof ReplicaCrashReport]: ReplicaCrashReport[Key] } & {
    readonly faults: string[]
  }
  readonly check: number
}

const sendingTo = ({ headers, urls }: World, random: () => number): Sending => ({
  ...{ headers, random },
  someServer: () => urls[random() < 0.5 ? 0 : 1] ?? '',
})

async function loadAndKill(
  { lifeMs, until }: ReplicaCrashOptions & { readonly until: number },
  { world, cluster, random, sessions, documents, report, check }: Parts,
): Promise<void> {
  let stopped = false
  const isStopped = () => stopped
  const sending = sendingTo(world, random)
  const onTurn = (ms: number, acknowledged: boolean) => {
    report.longestTurnMs = Math.max(report.longestTurnMs, Math.round(ms))
    if (acknowledged) report.turns++
    else report.doubtful++
  }
  const load = [
    ...Array.from({ length: WORKERS }, (_, n) =>
      fillSessions(`c${check}w${n}`, sending, sessions, isStopped, onTurn),
    ),
    ...Array.from({ length: DOCUMENT_WORKERS }, (_, n) =>
      fillDocuments(`c${check}d${n}`, sending, documents, isStopped, report),
    ),
    activate(world, random, report, isStopped),
  ]
  const ended = Promise.allSettled(load)
  for (let kill = 0; kill < KILLS_A_CHECK && performance.now() < until; kill++) {
    await Bun.sleep(lifeMs.least + random() * (lifeMs.most - lifeMs.least))
    report.kills[await killOne(world, cluster, random)]++
  }
  stopped = true
  for (const end of await ended) {
    if (end.status === 'rejected') report.faults.push(String(end.reason))
  }
}

/** Open turns may run for ten more seconds, and some wait for a dead server. */
const STOP_MS_MAX = 60_000

async function stopInTime(server: Server): Promise<void> {
  const late = Bun.sleep(STOP_MS_MAX).then(() => 'late')
  if ((await Promise.race([server.stop(), late])) !== 'late') return
  const lines = server.output().trim().split('\n').slice(-20)
  await server.kill()
  throw new Error(`a server did not stop:\n${lines.join('\n')}`)
}

async function killOne(world: World, cluster: Cluster, random: () => number): Promise<Victim> {
  const at = random() < 0.5 ? 0 : 1
  const choice = random()
  if (choice < 0.5) {
    await world.restart(at, (server) => server.kill())
    return 'one server'
  }
  if (choice < 0.65) {
    await world.restart(at, stopInTime)
    return 'one server, politely'
  }
  await cluster.kill()
  await Bun.sleep(random() * 2_000)
  await cluster.start()
  return 'the database'
}

/** Compares the database with all that was sent; returns how many doubtful turns are stored. */
async function verify(url: string, parts: Parts): Promise<number> {
  const { sessions, documents, world, random } = parts
  const { faults } = parts.report
  const sending = sendingTo(world, random)
  const ask = <Row>(text: string) => askPostgres<Row>(url, text)
  let doubtful = 0
  const rows = await ask<{ session_id: string; user_text: string }>(
    'SELECT session_id, user_text FROM turn ORDER BY session_id, seq',
  )
  const stored = Map.groupBy(rows, ({ session_id }) => session_id)
  for (const [id, sent] of sessions) {
    const texts = (stored.get(id) ?? []).map(({ user_text }) => user_text)
    faults.push(...compareTurns(id, sent, texts))
    const there = new Set(texts)
    doubtful += sent.filter(({ text, acknowledged }) => !acknowledged && there.has(text)).length
  }
  const [left] = await ask<{ tickets: number }>(`
    SELECT count(*)::int AS tickets FROM turn_ticket t JOIN replica r ON r.id = t.replica
    WHERE t.at < now() - interval '1 minute' AND r.seen_at > now() - interval '20 seconds'`)
  if (left && left.tickets > 0) faults.push(`${left.tickets} tickets of turns that are over`)
  const twice = await ask<{ device_id: string }>(`
    SELECT device_id FROM api_key WHERE device_id IS NOT NULL GROUP BY device_id
    HAVING count(*) > 1`)
  for (const { device_id } of twice) faults.push(`device ${device_id} has two keys`)
  faults.push(...(await verifyDocuments(ask, documents, sending)))
  if (faults.length === 0) await emptyKb(sending)
  return doubtful
}

/**
 * Registers devices, and redeems each code at both servers at once: it may give one key at most.
 */
async function activate(
  { headers, urls }: World,
  random: () => number,
  report: { activations: number; readonly faults: string[] },
  stopped: () => boolean,
): Promise<void> {
  const address = () => `10.${Math.floor(random() * 250)}.${Math.floor(random() * 250)}.1`
  const call = async (url: string, path: string, body: object) => {
    const sent = { ...headers, 'x-forwarded-for': address() }
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: sent,
      body: JSON.stringify(body),
    })
    return answer.ok ? ((await answer.json()) as Record<string, string>) : null
  }
  while (!stopped()) {
    await Bun.sleep(50)
    const made = await call(urls[0] ?? '', '/v1/devices', { name: 'd' }).catch(() => null)
    if (!made) continue
    const code = made.activation_code
    const tries = urls.map((url) =>
      call(url, '/v1/devices/activate', { code: code ?? '' }).catch(() => null),
    )
    const keys = (await Promise.all(tries)).filter((answer) => answer !== null)
    if (keys.length > 1) report.faults.push(`two keys for one code of ${made.id}`)
    report.activations += keys.length
    await fetch(`${urls[0]}/v1/devices/${made.id}`, { method: 'DELETE', headers }).catch(() => {})
  }
}
