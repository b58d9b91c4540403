import { basename } from 'node:path'
import type { PackModelKind } from '../../channels/llama/find.ts'
import { listedModels } from '../../channels/openai/models.ts'
import { createReranker } from '../../channels/openai/reranker.ts'
import type { Config } from '../../config.ts'
import type { ProbeFinding } from '../../features/site/status.ts'
import type { NativeRuntime } from '../../native/runtime.ts'
import { ToolFailure } from '../../tools/tool.ts'
import { createWebSearch } from '../../tools/web-search.ts'
import {
  type Endpoint,
  endpointHeaders,
  endpointUrl,
  type UpstreamFetch,
} from '../../upstream/net/upstream-call.ts'
import { ChannelFailure } from '../../upstream/ports/failure.ts'
import { openEmbedding } from '../../wiring/embedding.ts'
import { createLiveSettings } from '../../wiring/live-settings.ts'
import { openParser } from '../../wiring/machine.ts'
import { lookForModelPack } from '../../wiring/model-pack.ts'
import { openPlatform } from '../../wiring/models.ts'
import { upstreamProbes } from '../../wiring/monitoring.ts'
import { openSpeech } from '../../wiring/voice.ts'
import { printableLine } from '../output.ts'
import { type Finding, fail, ok, type UpstreamParts, warn } from './finding.ts'
import { checkLogin, checkMail } from './mail.ts'
import { checkOllamaPort } from './ollama.ts'
import { checkDetector, checkHomeAssistant, checkRecognition } from './voice.ts'

const PATIENCE_MS = 5_000
const MODEL_PATIENCE_MS = 30_000

const SAID: Readonly<Record<string, string>> = {
  timeout: 'does not answer in time',
  connection_failed: 'cannot be reached',
  unauthorized: 'refuses the key',
  http_4xx: 'refuses the request',
  http_5xx: 'has a fault of its own',
}

/** Embeds a word, which loads the model if it is a local one. */
export async function checkEmbedding(
  { config, clock, log, program, fetch }: UpstreamParts,
  runtime: NativeRuntime,
): Promise<Finding> {
  const name = 'Embedding'
  const isSet = config.MB_EMBED_BASE_URL ?? config.MB_EMBED_MODEL_DIR
  if (isSet === undefined && isPacked(config, 'embed')) return ok(name, PACKED)
  const mend = config.MB_EMBED_BASE_URL
    ? 'check MB_EMBED_BASE_URL, MB_EMBED_API_KEY and MB_EMBED_MODEL'
    : 'check MB_EMBED_MODEL_DIR, or unset it to use the model that is built in'
  try {
    const { embedWorker } = program
    const opened = await openEmbedding(config, { runtime, embedWorker, clock, log, fetch })
    try {
      const signal = AbortSignal.timeout(MODEL_PATIENCE_MS)
      const vector = (await opened.embedder.embed(['hello'], 'query', signal))[0]
      return ok(name, `${opened.description}, ${vector?.length ?? 0} dimensions`)
    } finally {
      await opened.embedder.close()
    }
  } catch (error) {
    const text = error instanceof Error ? error.message.slice(0, 200) : 'failed'
    return fail(name, text, mend)
  }
}

/** Model channel, speech and mail, side by side. */
export async function checkUpstreams(parts: UpstreamParts): Promise<Finding[]> {
  const { config, clock, log, program, fetch } = parts
  const live = createLiveSettings({ config, clock, log })
  const platform = await openPlatform({ live, clock, fetch })
  const { asrWorker, parseWorker, encoderUrl } = program
  const parser = openParser(parseWorker, clock)
  const speech = await openSpeech({ live, clock, log, fetch, asrWorker, encoderUrl, parser })
  const hearing = speech.hearing.current
  const { llm, tts, asr } = upstreamProbes({ live, platform, speech, fetch })
  const signal = () => AbortSignal.timeout(PATIENCE_MS)
  const recognition = async () =>
    hearing.local
      ? checkRecognition(hearing.local)
      : speechFinding('Speech recognition', 'MB_ASR', hearing.asr?.name, await asr(signal()))
  const thinking = async () => {
    const { endpoint, description } = platform.channel.current
    const isSet = config.MB_LLM_BASE_URL !== undefined
    if (!isSet && isPacked(config, 'chat')) return ok('Language model', PACKED)
    const found = await llm(signal())
    return endpoint && found.state === 'ok'
      ? checkModel(config, endpoint, description, fetch, signal())
      : modelFinding(found, description)
  }
  const [model, spoken, heard, detector, home, ollama, search, rerank, mail, login] =
    await Promise.all([
      thinking(),
      tts(signal()),
      recognition(),
      checkDetector(parts),
      checkHomeAssistant(parts, signal()),
      checkOllamaPort(parts, signal()),
      checkSearch(parts, signal()),
      checkRerank(parts, signal()),
      checkMail(config, signal()),
      checkLogin(config, fetch, signal()),
    ])
  await live.close()
  await parser.close()
  return [
    model,
    checkModelPack(config),
    speechFinding('Speech synthesis', 'MB_TTS', speech.tts.current?.name, spoken),
    heard,
    detector,
    home,
    ollama,
    search,
    rerank,
    mail,
    ...login,
  ]
}

const PACKED = 'the one of the model pack'
const isPacked = (config: Config, kind: PackModelKind): boolean =>
  lookForModelPack(config).pack?.models[kind] !== undefined

/** Checks the files of the model pack; only the server starts its program. */
function checkModelPack(config: Config): Finding {
  const name = 'Model pack'
  const { pack, folder, exists, missing } = lookForModelPack(config)
  if (!exists) return ok(name, `none; ${folder} would hold llama-server and a *.gguf file`)
  if (!pack) return warn(name, `lacks ${missing.join(' and ')}`, 'see the manual, Models')
  const files = Object.values(pack.models).map((file) => basename(file ?? pack.program))
  return ok(name, `${basename(pack.program)} with ${files.join(', ')}`)
}

/** Searches for a word, as the tool does. */
async function checkSearch(
  { config, clock, fetch }: UpstreamParts,
  signal: AbortSignal,
): Promise<Finding> {
  const name = 'Web search'
  const { MB_SEARCH_URL: root } = config
  if (root === undefined) return ok(name, 'off; MB_SEARCH_URL turns it on')
  try {
    const tool = createWebSearch({ fetch, clock, root })
    await tool.run({ query: 'moon' }, { signal, tenantId: '' })
    return ok(name, new URL(root).host)
  } catch (error) {
    const text = error instanceof ToolFailure ? error.message : 'does not answer in time'
    return fail(name, text, 'check MB_SEARCH_URL, and json among the formats of the SearXNG')
  }
}

/** Ranks two words, as a search ranks passages. */
async function checkRerank(
  { config, clock, fetch }: UpstreamParts,
  signal: AbortSignal,
): Promise<Finding> {
  const name = 'Reranking'
  const { MB_RERANK_BASE_URL: baseUrl, MB_RERANK_API_KEY: apiKey = '' } = config
  if (baseUrl === undefined) {
    const isThere = isPacked(config, 'rerank')
    return ok(name, isThere ? PACKED : 'off; MB_RERANK_BASE_URL turns it on')
  }
  const model = config.MB_RERANK_MODEL ?? null
  const reranker = createReranker({ fetch, clock, baseUrl, apiKey, model, timeoutMs: PATIENCE_MS })
  try {
    await reranker.rank('moon', ['moon', 'sun'], signal)
    return ok(name, new URL(baseUrl).host)
  } catch (error) {
    const text = error instanceof ChannelFailure ? error.message : 'does not answer in time'
    return fail(name, text, 'check MB_RERANK_BASE_URL, MB_RERANK_API_KEY and MB_RERANK_MODEL')
  }
}

function modelFinding({ state, class: word }: ProbeFinding, description: string): Finding {
  const name = 'Language model'
  if (state === 'off') {
    const mend = 'choose one in the browser, Server → Models, or set MB_LLM_BASE_URL'
    return warn(name, 'none connected; the built-in responder answers', mend)
  }
  const mend = word === 'unauthorized' ? 'check MB_LLM_API_KEY' : 'check MB_LLM_BASE_URL'
  return fail(name, `${description}: ${SAID[word] ?? word}`, mend)
}

function speechFinding(
  name: string,
  prefix: 'MB_TTS' | 'MB_ASR',
  adapter: string | undefined,
  { state, class: word }: ProbeFinding,
): Finding {
  const alone = prefix === 'MB_TTS' ? 'espeak-ng on this machine' : 'a voice pack'
  if (state === 'off') return ok(name, `off; ${alone} or ${prefix}_BASE_URL turns it on`)
  if (state === 'ok') return ok(name, adapter ?? '')
  return fail(name, `${adapter} ${SAID[word] ?? word}`, `check ${prefix}_BASE_URL and its key`)
}

const LANGUAGE_MODEL = 'Language model'
const NAMES_SHOWN = 5
const NAME_CHARS_SHOWN = 60

/**
 * Checks that an endpoint that answers is the right one: an address without its `/v1`, or a web
 * page, answers as well, and a missing model would show only in the first turn.
 */
export async function checkModel(
  config: Config,
  endpoint: Endpoint,
  description: string,
  fetch: UpstreamFetch,
  signal: AbortSignal,
): Promise<Finding> {
  const models = await listOf(endpoint, fetch, signal)
  const url = 'MB_LLM_BASE_URL must be the root of an OpenAI-compatible API, often ending in /v1'
  if (models === null) return warn(LANGUAGE_MODEL, `${description}: gives no list of models`, url)
  const wanted = config.MB_LLM_MODEL
  if (wanted === undefined || models.includes(wanted)) return ok(LANGUAGE_MODEL, description)
  const some = models
    .slice(0, NAMES_SHOWN)
    .map((name) => printableLine(name).slice(0, NAME_CHARS_SHOWN))
    .join(', ')
  return warn(
    LANGUAGE_MODEL,
    `${description}: is not in its list`,
    `set MB_LLM_MODEL, for instance to ${some}`,
  )
}

/** The endpoint's models; null when the answer is not a list or is empty. */
async function listOf(endpoint: Endpoint, fetch: UpstreamFetch, signal: AbortSignal) {
  try {
    const answer = await fetch(endpointUrl(endpoint, '/models'), {
      headers: { accept: 'application/json', ...endpointHeaders(endpoint) },
      signal,
    })
    const models = answer.ok ? await listedModels(answer) : []
    return models.length > 0 ? models : null
  } catch {
    return null
  }
}
