import type { Endpoint } from '../channels/net/upstream-fetch.ts'
import { type Availability, availability } from '../channels/openai/models.ts'
import type { Finding, Probe } from '../features/site/status.ts'
import { sql } from '../storage/db.ts'
import type { Adapters } from './adapters.ts'
import type { LocalRecognition } from './speech.ts'

const OFF: Finding = { state: 'off', class: 'not_configured' }
const found = (word: Availability | 'standby'): Finding => ({
  state: word === 'ok' || word === 'standby' ? 'ok' : 'down',
  class: word,
})

type Run = (signal: AbortSignal) => Finding | Promise<Finding>
type Upstreams = Pick<Adapters, 'config' | 'platform' | 'speech' | 'fetch'>

/** One probe an upstream: whether it answers. None of them costs money. */
export function upstreamProbes({ config, platform, speech, fetch }: Upstreams) {
  const ask = async (endpoint: Endpoint, signal: AbortSignal) =>
    found(await availability({ ...endpoint, fetch }, signal))
  const voice =
    (kind: 'TTS' | 'ASR', name: string | undefined): Run =>
    (signal) => {
      const baseUrl = config[`MB_${kind}_BASE_URL`]
      if (name === undefined) return OFF
      if (baseUrl === undefined) return found('ok')
      return baseUrl.startsWith('tcp:')
        ? connects(new URL(baseUrl), signal)
        : ask({ baseUrl, apiKey: config[`MB_${kind}_API_KEY`] ?? '' }, signal)
    }
  const llm: Run = (signal) => {
    const { endpoint } = platform.get()
    return endpoint ? ask(endpoint, signal) : { state: 'off', class: 'offline_responder' }
  }
  const { local } = speech
  const asr: Run = local ? () => localRecognition(local) : voice('ASR', speech.asr?.name)
  return { llm, tts: voice('TTS', speech.tts?.name), asr, ask }
}

/** Shows how the last recognition ended; a status page must not load the voice pack. */
function localRecognition({ asr, exists, wanted }: LocalRecognition): Finding {
  if (asr === null) {
    if (!wanted && !exists) return OFF
    return { state: wanted ? 'down' : 'off', class: 'files_missing' }
  }
  const lastOk = asr.lastOk()
  return lastOk === false ? { state: 'down', class: 'error' } : found(lastOk ? 'ok' : 'standby')
}

/** The checks of the status page; without the `vital` one the server is down. */
export function openProbes(adapters: Adapters): { vital: string; probes: readonly Probe[] } {
  const { config, db } = adapters
  const { llm, tts, asr, ask } = upstreamProbes(adapters)
  const database: Run = async () => {
    await db.get(sql`SELECT 1 AS answer`)
    const trouble = await db.trouble()
    return trouble === null ? found('ok') : { state: 'down', class: trouble }
  }
  const embedding: Run = (signal) => {
    const baseUrl = config.MB_EMBED_BASE_URL
    return baseUrl
      ? ask({ baseUrl, apiKey: config.MB_EMBED_API_KEY ?? '' }, signal)
      : localModel(adapters, signal)
  }
  const probes = Object.entries({ database, llm, embedding, tts, asr }).map(([name, run]) => ({
    name,
    run: async (signal: AbortSignal) => run(signal),
  }))
  return { vital: 'database', probes }
}

/**
 * Shows how the last call ended, because a status page must not load the model into memory. After a
 * failure it embeds a word, to see whether the model has recovered.
 */
async function localModel({ embedder }: Adapters, signal: AbortSignal): Promise<Finding> {
  if (embedder.lastOk() === false) await embedder.embed(['ping'], 'query', signal)
  return found(embedder.lastOk() === null ? 'standby' : 'ok')
}

/** Whether a TCP connection can be made. */
async function connects({ hostname, port }: URL, signal: AbortSignal): Promise<Finding> {
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
