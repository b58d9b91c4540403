import { parseUntrustedJson } from '../../core/json.ts'
import { UPSTREAM_MODELS_BYTES_MAX } from '../../core/limits/upstream.ts'
import { readStart } from '../net/upstream-fetch.ts'

/** Models are told apart by their ids, the only thing that every server lists. */
const RERANKS = /rerank/i
const EMBEDS = /embed|(^|[/-])(bge|gte|e5|m3e)[-:]/i
const NO_TEXT = /whisper|tts|asr|transcri|moderation|dall-e|diffusion|image/i

const embeds = (id: string) => EMBEDS.test(id) && !RERANKS.test(id)
const chats = (id: string) => ![RERANKS, EMBEDS, NO_TEXT].some((pattern) => pattern.test(id))

/** The first model of a `GET /models` answer that can chat; null when it lists none. */
export const firstChatModel = async (response: Response): Promise<string | null> =>
  (await listedModels(response)).find(chats) ?? null

/** The first model of a `GET /models` answer that makes vectors; null when it lists none. */
export const firstEmbeddingModel = async (response: Response): Promise<string | null> =>
  (await listedModels(response)).find(embeds) ?? null

/** All of a `GET /models` answer; none for what is no list. Throws what reading the body throws. */
export async function listedModels(response: Response): Promise<string[]> {
  const list = parse(await readStart(response, UPSTREAM_MODELS_BYTES_MAX))
  if (!Array.isArray(list?.data)) return []
  const ids = list.data.map((model: { id?: unknown } | null): unknown => model?.id)
  return ids.every((id): id is string => typeof id === 'string' && id !== '') ? ids : []
}

function parse(text: string): { readonly data?: unknown } | null {
  try {
    const value = parseUntrustedJson(text)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}
