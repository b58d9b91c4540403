import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { sha256Hex } from '../../core/crypto.ts'
import { OperatorError } from '../../data-folder/operator-error.ts'
import { printableLine } from '../output.ts'
import type { Client, RemoteSource } from './client.ts'
import { type Found, filesBelow, isGone } from './tree.ts'

/** Sends what is new in a folder, once. */

export interface Round {
  readonly client: Client
  readonly folder: string
  readonly prefix: string
  readonly include: readonly string[]
  /** The id of a collection, `none`, or null: what the key sees. */
  readonly collection: string | null
  readonly removes: boolean
  /** Only says what would be done. */
  readonly isDry: boolean
  /** Hashes of files that have not changed since, by path; filled by each round. */
  readonly hashes: Map<string, Hashed>
  readonly sleep: (ms: number) => Promise<void>
  readonly say: (line: string) => void
  readonly fail: (line: string) => void
}

export interface Hashed extends Found {
  readonly hash: string
}

export interface Counts {
  /** Files that the server has read; in a dry run those that it would be sent. */
  sent: number
  same: number
  removed: number
  failed: number
}

const POLL_MS = 500
const WAITING: ReadonlySet<string> = new Set(['queued', 'reading', 'embedding'])

/** A file that the server reads. */
interface Sent {
  readonly path: string
  readonly id: string
  readonly hash: string
}

export async function runRound(round: Round): Promise<Counts> {
  const { client, folder, prefix, include, collection } = round
  const counts: Counts = { sent: 0, same: 0, removed: 0, failed: 0 }
  const files = filesBelow(folder, include)
  const known = await client.sources(collection, prefix)
  const byOrigin = new Map(known.toReversed().map((source) => [source.origin, source]))
  const bytesMax = await client.fileBytesMax()
  const sent: Sent[] = []
  for (const file of files) {
    await attempt(round, counts, file.path, async () => {
      if (file.bytes > bytesMax) throw new Error(`larger than ${bytesMax / 1024 / 1024} MB`)
      const one = await send(round, counts, file, byOrigin.get(prefix + file.path))
      if (one) sent.push(one)
    })
  }
  for (const one of sent) {
    await attempt(round, counts, one.path, async () => {
      await finished(round, one)
      counts.sent += 1
    })
  }
  if (round.removes) await removeGone(round, counts, known)
  return counts
}

/** Says a failure in one line, and goes on with the next file. */
async function attempt(round: Round, counts: Counts, path: string, work: () => Promise<void>) {
  try {
    await work()
  } catch (error) {
    // The server is away, or refuses the key: nothing else works either.
    if (error instanceof OperatorError || !(error instanceof Error)) throw error
    counts.failed += 1
    round.hashes.delete(path)
    round.fail(`${printableLine(path)}: ${printableLine(error.message)}`)
  }
}

async function send(
  round: Round,
  counts: Counts,
  file: Found,
  known: RemoteSource | undefined,
): Promise<Sent | null> {
  const { client, folder, prefix, collection, hashes, isDry, say } = round
  const { path } = file
  const before = hashes.get(path)
  const isKept = before?.bytes === file.bytes && before.changedMs === file.changedMs
  const bytes = isKept ? null : readFileSync(join(folder, path))
  const hash = before && bytes === null ? before.hash : sha256Hex(bytes ?? new Uint8Array())
  hashes.set(path, { ...file, hash })
  if (known?.sha256 === hash && known.state === 'ready') {
    counts.same += 1
    return null
  }
  say(`${known ? '~' : '+'} ${printableLine(path)}`)
  if (isDry) {
    counts.sent += 1
    return null
  }
  const body = new File([bytes ?? readFileSync(join(folder, path))], basename(path))
  const target: Record<string, string> = collection === null ? {} : { collection_id: collection }
  const fields = { ...target, origin: prefix + path, sha256: hash }
  const { id } = await client.upload(body, fields)
  return { path, id, hash }
}

/** Waits until the server has read the file. Throws when it cannot. */
async function finished({ client, sleep }: Round, { id, hash }: Sent): Promise<void> {
  for (;;) {
    const source = await client.source(id)
    if (!WAITING.has(source.state)) {
      if (source.state === 'ready' && source.sha256 === hash) return
      throw new Error(source.error ?? source.error_class ?? 'not read')
    }
    await sleep(POLL_MS)
  }
}

async function removeGone(round: Round, counts: Counts, known: readonly RemoteSource[]) {
  const { client, folder, prefix, isDry, say } = round
  for (const { id, origin } of known) {
    const path = (origin ?? '').slice(prefix.length)
    if (path === '' || !isGone(folder, path)) continue
    await attempt(round, counts, path, async () => {
      say(`- ${printableLine(path)}`)
      if (!isDry) await client.remove(id)
      counts.removed += 1
    })
  }
}
