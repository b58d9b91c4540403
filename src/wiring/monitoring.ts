import type { LlamaServer, ModelState } from '../channels/llama/server.ts'
import { type Availability, availability } from '../channels/openai/models.ts'
import type { Gauges } from '../channels/prometheus/metrics.ts'
import type { DoorCount, TurnCounts } from '../features/agent/turn-counts.ts'
import { createStatus, type Probe, type ProbeFinding } from '../features/site/status.ts'
import type { Sse } from '../http/sse.ts'
import { sql } from '../storage/db.ts'
import type { Endpoint } from '../upstream/net/upstream-call.ts'
import type { Adapters } from './adapters.ts'
import type { Backups } from './backups.ts'
import type { LocalRecognition } from './voice.ts'

const OFF: ProbeFinding = { state: 'off', class: 'not_configured' }
const found = (word: Availability | 'standby'): ProbeFinding => ({
  state: word === 'ok' || word === 'standby' ? 'ok' : 'down',
  class: word,
})

type Run = (signal: AbortSignal) => ProbeFinding | Promise<ProbeFinding>
type Upstreams = Pick<Adapters, 'live' | 'platform' | 'speech' | 'fetch'>

/** A probe for each upstream tells whether it answers. None of them costs money. */
export function upstreamProbes({ live, platform, speech, fetch }: Upstreams) {
  const ask = async ({ baseUrl, apiKey }: Endpoint, signal: AbortSignal) =>
    found(await availability({ baseUrl, apiKey, fetch }, signal))
  const voice =
    (kind: 'TTS' | 'ASR', adapter: () => { readonly name: string } | null): Run =>
    (signal) => {
      const config = live.config()
      const baseUrl = config[`MB_${kind}_BASE_URL`]
      if (adapter() === null) return OFF
      if (baseUrl === undefined) return found('ok')
      return baseUrl.startsWith('tcp:')
        ? connects(new URL(baseUrl), signal)
        : ask({ baseUrl, apiKey: config[`MB_${kind}_API_KEY`] ?? '' }, signal)
    }
  const llm: Run = (signal) => {
    const { endpoint, packed } = platform.channel.current
    if (packed) return packedModel(packed)
    return endpoint ? ask(endpoint, signal) : { state: 'off', class: 'offline_responder' }
  }
  const hear = voice('ASR', () => speech.hearing.current.asr)
  const asr: Run = (signal) => {
    const { local } = speech.hearing.current
    return local ? localRecognition(local) : hear(signal)
  }
  return { llm, tts: voice('TTS', () => speech.tts.current), asr, ask }
}

const PACKED: Readonly<Record<ModelState, ProbeFinding>> = {
  ready: { state: 'ok', class: 'ok' },
  standby: { state: 'ok', class: 'standby' },
  loading: { state: 'ok', class: 'loading' },
  failed: { state: 'down', class: 'error' },
}

const packedModel = (model: LlamaServer): ProbeFinding => PACKED[model.state]

/** Tells how the last recognition ended; a status page must not load the voice pack. */
function localRecognition({ asr, exists, wanted }: LocalRecognition): ProbeFinding {
  if (asr === null) {
    if (!wanted && !exists) return OFF
    return { state: wanted ? 'down' : 'off', class: 'files_missing' }
  }
  const lastOk = asr.lastOk()
  return lastOk === false ? { state: 'down', class: 'error' } : found(lastOk ? 'ok' : 'standby')
}

/** The checks of the status page; without the `vital` one the server is down. */
function openProbes(
  adapters: Adapters,
  backups: Backups,
  turnsOfHour: TurnCounts['lastHour'],
): { vital: string; probes: readonly Probe[] } {
  const { live, db } = adapters
  const { llm, tts, asr, ask } = upstreamProbes(adapters)
  const database: Run = async () => {
    const answered = await db.get(sql`SELECT 1 AS answer`).catch(() => null)
    const trouble = (await db.trouble()) ?? (answered === null ? 'error' : null)
    return trouble === null ? found('ok') : { state: 'down', class: trouble }
  }
  const embedding: Run = (signal) => {
    const { MB_EMBED_BASE_URL: baseUrl, MB_EMBED_API_KEY: apiKey = '' } = live.config()
    return baseUrl ? ask({ baseUrl, apiKey }, signal) : localModel(adapters, signal)
  }
  const rerank = (signal: AbortSignal) => {
    const { MB_RERANK_BASE_URL: baseUrl, MB_RERANK_API_KEY: apiKey = '' } = live.config()
    if (baseUrl) return ask({ baseUrl, apiKey }, signal)
    const { rerank: packed } = adapters.modelPack.servers
    return packed ? packedModel(packed) : null
  }
  const backup = () => backups.finding()
  /** Said while anybody may sign up, so that an operator who did not mean that sees it. */
  const signup = (): ProbeFinding | null => {
    const { MB_SIGNUP, MB_SIGNIN } = live.config()
    const canJoin = MB_SIGNIN.some((way) => way !== 'passkey')
    return MB_SIGNUP === 'open' && canJoin ? { state: 'ok', class: 'open' } : null
  }
  const turns = () => answersOf(turnsOfHour())
  const all = { database, backup, llm, embedding, rerank, tts, asr, turns, signup }
  const probes = Object.entries(all).map(([name, run]) => ({
    name,
    run: async (signal: AbortSignal) => run(signal),
  }))
  return { vital: 'database', probes }
}

/** Fewer turns in an hour tell nothing. */
const TURNS_TOLD_MIN = 5

/** Whether people were answered: a model may be listed, and refuse each question. */
function answersOf(counts: readonly DoorCount[]): ProbeFinding | null {
  const sum = (kind: 'turns' | 'failures') => counts.reduce((all, row) => all + row[kind], 0)
  const turns = sum('turns')
  if (turns < TURNS_TOLD_MIN) return null
  return sum('failures') * 2 < turns ? found('ok') : { state: 'down', class: 'turns_failing' }
}

/**
 * Tells how the last call ended, because a status page must not load the model into memory. After a
 * failure it embeds a word, to see whether the model has recovered.
 */
async function localModel({ embedding }: Adapters, signal: AbortSignal): Promise<ProbeFinding> {
  const { embedder } = embedding.current
  if (embedder.lastOk() === false) await embedder.embed(['ping'], 'query', signal)
  return found(embedder.lastOk() === null ? 'standby' : 'ok')
}

/** Whether a TCP connection can be made. */
async function connects({ hostname, port }: URL, signal: AbortSignal): Promise<ProbeFinding> {
  const { connect } = await import('node:net')
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), signal })
    const end = (word: Availability) => {
      socket.destroy()
      resolve(found(word))
    }
    socket.once('connect', () => end('ok'))
    socket.once('error', () => end(signal.aborted ? 'timeout' : 'connection_failed'))
  })
}

interface SiteNeeds {
  readonly sse: Sse
  readonly backups: Backups
  readonly turnCounts: Pick<TurnCounts, 'lastHour'>
  readonly sources: { readonly open: Gauges['sources'] }
  readonly schedules: { readonly count: Gauges['schedules'] }
  readonly files: { readonly living: Gauges['files'] }
  readonly memories: { readonly facts: Gauges['memories'] }
}

/** What the public pages show of the server's state, and what /metrics shows to its operator. */
export function openSite(
  adapters: Adapters,
  { sse, backups, turnCounts, sources, files, schedules, memories }: SiteNeeds,
) {
  const { clock, db, metrics, embedding } = adapters
  const embeddingTexts = () => embedding.current.embedder.pending()
  const backupAge = backups.ageSeconds
  const databaseConnections = db.connections ?? null
  metrics.watch({
    streams: sse.open,
    embeddingTexts,
    sources: sources.open,
    files: files.living,
    schedules: schedules.count,
    memories: memories.facts,
    backupAge,
    databaseConnections,
  })
  const { vital, probes } = openProbes(adapters, backups, turnCounts.lastHour)
  const status = createStatus({ clock, basis: adapters.live.config, vital, probes })
  return { status, takesWrites: db.takesWrites }
}
