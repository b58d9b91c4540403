import { parseUntrustedJson } from '../../core/json.ts'
import { UPSTREAM_MODELS_BYTES_MAX } from '../../core/limits/upstream.ts'
import {
  type Endpoint,
  endpointHeaders,
  endpointUrl,
  readStart,
  type UpstreamFetch,
} from '../../upstream/net/upstream-call.ts'
import type { ModelListing } from '../../upstream/ports/llm.ts'

/** Kinds of models are recognised by their id, because it is all that every server lists. */
const RERANKS = /rerank/i
const EMBEDS = /embed|minilm|(^|[/-])(bge|gte|e5|m3e)[-:]/i
const HEARS = /whisper|asr|transcri|sensevoice|paraformer|parakeet/i
const SPEAKS = /tts|speech|cosyvoice|kokoro|realtime/i
const DRAWS = /dall-e|diffusion|image|sdxl|cogview|cogvideo|(^|[/-])(flux|sora|veo)[-.:\d]/i
const NO_TEXT = [RERANKS, EMBEDS, HEARS, SPEAKS, DRAWS, /moderation/i]

const embeds = (id: string) => EMBEDS.test(id) && !RERANKS.test(id)
/** Whether a model can chat, as far as its id tells. */
export const isChatModel = (id: string): boolean => !NO_TEXT.some((pattern) => pattern.test(id))

export const chatModelsFirst = (ids: readonly string[]): string[] => [
  ...ids.filter(isChatModel),
  ...ids.filter((id) => !isChatModel(id)),
]

/** The first model of a `GET /models` answer that can chat; null when it lists none. */
export const firstChatModel = async (response: Response): Promise<string | null> =>
  (await listedModels(response)).find(isChatModel) ?? null

/** The first of the listed models that makes vectors; null when none is known to. */
export const firstEmbeddingModel = (ids: readonly string[]): string | null =>
  ids.find(embeds) ?? null

/** All ids of a `GET /models` answer; empty when it is no list. Rejects as reading does. */
export const listedModels = async (response: Response): Promise<string[]> =>
  (await entriesOf(response)).map(({ id }) => id)

interface Entry {
  readonly id: string
  readonly [field: string]: unknown
}

async function entriesOf(response: Response): Promise<Entry[]> {
  const list = parse(await readStart(response, UPSTREAM_MODELS_BYTES_MAX))
  if (!Array.isArray(list?.data)) return []
  const entries: (Partial<Entry> | null)[] = list.data
  const isNamed = (entry: Partial<Entry> | null): entry is Entry =>
    typeof entry?.id === 'string' && entry.id !== ''
  return entries.every(isNamed) ? entries : []
}

/** Kinds as servers name them: Together and LM Studio in `type`, Xinference in `model_type`. */
const SAYS_CHAT = /^(chat|llm|vlm|language|code)$/i
const SAYS_OTHER = /embed|rerank|image|video|audio|speech|transcri|moderation/i

/** Whether a model can chat, as its entry says; null where it does not. */
function chatsSaid({ type, model_type, capabilities, architecture }: Entry): boolean | null {
  for (const kind of [type, model_type]) {
    if (typeof kind !== 'string') continue
    if (SAYS_CHAT.test(kind)) return true
    if (SAYS_OTHER.test(kind)) return false
  }
  // Of Mistral, and of OpenRouter.
  const { completion_chat: chats } = (capabilities ?? {}) as { readonly completion_chat?: unknown }
  if (typeof chats === 'boolean') return chats
  const { output_modalities: makes } = (architecture ?? {}) as {
    readonly output_modalities?: unknown
  }
  return Array.isArray(makes) ? makes.includes('text') : null
}

const chats = (entry: Entry): boolean => chatsSaid(entry) ?? isChatModel(entry.id)

/** Of vLLM and SGLang, of OpenRouter, of Groq, and of Mistral. */
const CONTEXT_FIELDS = ['max_model_len', 'context_length', 'context_window', 'max_context_length']

/** How many tokens a model reads, where its entry in the list says so. */
function contextOf(entry: Entry): number | null {
  // llama.cpp has what it has loaded in a field of its own.
  const { n_ctx: loaded } = (entry.meta ?? {}) as { readonly n_ctx?: unknown }
  const said = [loaded, ...CONTEXT_FIELDS.map((field) => entry[field])]
  const isSize = (value: unknown): value is number =>
    Number.isSafeInteger(value) && Number(value) > 0
  return said.find(isSize) ?? null
}

/** What the entries say of contexts, and that of the one that answers where none is named. */
function contextsOf(entries: readonly Entry[]): Map<string | null, number> {
  const first = entries.find(chats)
  const named = [
    ...(first ? [[null, first] as const] : []),
    ...entries.map((one) => [one.id, one] as const),
  ]
  return new Map(
    named.flatMap(([name, entry]) => {
      const tokens = contextOf(entry)
      return tokens === null ? [] : [[name, tokens] as const]
    }),
  )
}

const namesOf = (entries: readonly Entry[]) => [...new Set(entries.map(({ id }) => id))]

function parse(text: string): { readonly data?: unknown } | null {
  try {
    const value = parseUntrustedJson(text)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

/** The result of a request for the list of models, which costs no tokens. */
export type Availability =
  | 'ok'
  | 'timeout'
  | 'connection_failed'
  | 'unauthorized'
  | 'http_4xx'
  | 'http_5xx'

/** The endpoint is there, too, when it answers with one of these: it only has no such list. */
const NO_LIST = new Set([404, 405, 501])

/** Asks an OpenAI-compatible endpoint for its models. Never throws. */
export async function listModels(
  endpoint: Endpoint & { readonly fetch: UpstreamFetch },
  signal: AbortSignal,
): Promise<ModelListing> {
  try {
    const response = await requestList(endpoint, signal)
    const word = judge(response.status)
    if (word !== 'ok') await response.body?.cancel()
    const entries = word === 'ok' ? await entriesOf(response) : []
    const models = namesOf(entries)
    const chat = namesOf(entries.filter(chats))
    return { models, chat, contexts: contextsOf(entries), failure: word === 'ok' ? null : word }
  } catch {
    const failure = signal.aborted ? 'timeout' : 'connection_failed'
    return { models: [], chat: [], contexts: new Map(), failure }
  }
}

const requestList = (
  endpoint: Endpoint & { readonly fetch: UpstreamFetch },
  signal: AbortSignal,
): Promise<Response> =>
  endpoint.fetch(endpointUrl(endpoint, '/models'), {
    headers: { accept: 'application/json', ...endpointHeaders(endpoint) },
    signal,
  })

/** Tells whether an OpenAI-compatible endpoint answers and takes the key. Never throws. */
export async function availability(
  endpoint: Endpoint & { readonly fetch: UpstreamFetch },
  signal: AbortSignal,
): Promise<Availability> {
  try {
    const response = await requestList(endpoint, signal)
    await response.body?.cancel()
    return judge(response.status)
  } catch {
    return signal.aborted ? 'timeout' : 'connection_failed'
  }
}

function judge(status: number): Availability {
  if (status < 400 || NO_LIST.has(status)) return 'ok'
  if (status === 401 || status === 403) return 'unauthorized'
  return status < 500 ? 'http_4xx' : 'http_5xx'
}
