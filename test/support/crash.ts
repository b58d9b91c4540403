import { compare, createLedger, type Ledger, randomFrom } from './crash-ledger.ts'
import { type Caller, Refused, writeUntilDeath } from './crash-load.ts'
import { createKey } from './key.ts'
import { type Server, startServer } from './server.ts'
import { tempFolder } from './temp.ts'

export interface CrashOptions {
  readonly rounds: number
  readonly seed: number
  /** How long a server may live, in milliseconds of load. */
  readonly lifeMs: { readonly least: number; readonly most: number }
  readonly onRound?: (round: number, ledger: Ledger, faults: readonly string[]) => void
}

export interface CrashReport {
  readonly kills: number
  readonly acknowledged: Ledger['acknowledged']
  /** Acknowledged writes that were missing or wrong after a crash. */
  readonly faults: readonly string[]
}

const WORKERS = ['turns', 'turns', 'turns', 'turns', 'docs', 'devices'] as const

/**
 * Kills the server during mixed load, repeatedly on one data folder, and after each start reads
 * back everything that it has acknowledged.
 */
export async function crash(options: CrashOptions): Promise<CrashReport> {
  using folder = tempFolder()
  const random = randomFrom(options.seed)
  const { headers } = await createKey(folder.path)
  const ledger = createLedger()
  const faults: string[] = []
  for (let round = 1; round <= options.rounds; round++) {
    const server = await startServer({ dataDir: folder.path })
    const caller = { url: server.url, headers, random }
    faults.push(...(await verify(caller, ledger)))
    const load = WORKERS.map((kind, at) => writeUntilDeath(kind, `r${round}w${at}`, caller, ledger))
    const ended = Promise.allSettled(load)
    await die(server, options.lifeMs, random)
    for (const end of await ended) if (end.status === 'rejected') faults.push(String(end.reason))
    options.onRound?.(round, ledger, faults)
  }
  await using server = await startServer({ dataDir: folder.path })
  faults.push(...(await verify({ url: server.url, headers, random }, ledger)))
  return { kills: options.rounds, acknowledged: ledger.acknowledged, faults }
}

async function die(server: Server, { least, most }: CrashOptions['lifeMs'], random: () => number) {
  await Bun.sleep(least + random() * (most - least))
  await server.kill()
}

/** What the server lacks of all that it has acknowledged, as sentences. */
export async function verify(caller: Caller, ledger: Ledger): Promise<string[]> {
  const { docs, devices } = ledger
  const found = [
    ...(await verifyTurns(caller, ledger)),
    ...compare('document', docs, await shown(caller, '/v1/kb/docs', 'docs')),
    ...compare('device', devices, await shown(caller, '/v1/devices', 'devices')),
    ...(await verifyKeys(caller, ledger)),
    ...(await verifySearch(caller, ledger)),
  ]
  // The state after the restart decides about requests that were open during the crash.
  for (const [book, path, field] of [
    [docs, '/v1/kb/docs', 'docs'],
    [devices, '/v1/devices', 'devices'],
  ] as const) {
    const there = await shown(caller, path, field)
    for (const id of book.doubtful) {
      if (there.has(id)) continue
      book.there.delete(id)
      book.gone.add(id)
    }
    book.doubtful.clear()
    for (const [id, name] of there) if (!book.gone.has(id)) book.there.set(id, name)
  }
  return found
}

async function get(caller: Caller, path: string): Promise<Record<string, unknown>> {
  const answer = await fetch(caller.url + path, { headers: caller.headers })
  if (!answer.ok) throw new Refused(`GET ${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Record<string, unknown>
}

/** Names by id. */
async function shown(caller: Caller, path: string, field: string): Promise<Map<string, string>> {
  const rows = (await get(caller, path))[field] as { id: string; title?: string; name?: string }[]
  return new Map(rows.map(({ id, title, name }) => [id, title ?? name ?? '']))
}

/** Checks the latest sessions, and 2 % of the older ones. */
async function verifyTurns(caller: Caller, { sessions }: Ledger): Promise<string[]> {
  const found: string[] = []
  const latest = [...sessions.keys()].slice(-WORKERS.length * 4)
  const due = [...sessions].filter(([id]) => latest.includes(id) || caller.random() < 0.02)
  for (const [id, session] of due) {
    const { messages } = (await get(caller, `/v1/sessions/${id}/history`)) as {
      messages: { role: string; content: string }[]
    }
    const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content)
    if (session.doubtful !== null && said.at(-1) === session.doubtful) {
      session.said.push(session.doubtful)
    }
    session.doubtful = null
    if (said.join() !== session.said.join()) {
      found.push(`session ${id}: acknowledged ${session.said.join()}, has ${said.join()}`)
    }
  }
  return found
}

async function verifyKeys(caller: Caller, { keys, devices }: Ledger): Promise<string[]> {
  const found: string[] = []
  for (const [device, key] of keys) {
    if (devices.doubtful.has(device)) continue
    const answer = await fetch(`${caller.url}/v1/devices/heartbeat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
    })
    const wanted = devices.gone.has(device) ? 401 : 200
    if (answer.status !== wanted) found.push(`key of ${device}: ${answer.status}, not ${wanted}`)
    if (wanted === 401) keys.delete(device)
  }
  return found
}

/** Checks that the vector and word indexes agree with the table of documents. */
async function verifySearch(caller: Caller, { docs }: Ledger): Promise<string[]> {
  const [id, name] = [...docs.there].filter(([key]) => !docs.doubtful.has(key)).at(-1) ?? []
  // Searches even without documents, to load the embedding model before the load begins.
  const answer = await fetch(`${caller.url}/v1/kb/search`, {
    method: 'POST',
    headers: caller.headers,
    body: JSON.stringify({ q: `lunar station ${name ?? ''}` }),
  })
  const { results } = (await answer.json()) as { results: { doc_id: string }[] }
  const known = await shown(caller, '/v1/kb/docs', 'docs')
  const strangers = results.filter(({ doc_id }) => !known.has(doc_id))
  if (id === undefined) return []
  return [
    ...(results.some(({ doc_id }) => doc_id === id) ? [] : [`document ${id} is not found`]),
    ...strangers.map(({ doc_id }) => `search finds ${doc_id}, which is no document`),
  ]
}
