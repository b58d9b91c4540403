import { UPSTREAM_MODELS_BYTES_MAX } from '../../core/limits.ts'
import { readStart } from '../read-start.ts'

const NO_CHAT = [
  /embed|rerank|(^|[/-])(bge|gte|e5|m3e)[-:]/i,
  /whisper|tts|asr|transcri|moderation|dall-e|diffusion|image/i,
]

/**
 * The first model of a `GET /models` answer that can chat, judged by its id. Null: a list without
 * one. Undefined: the answer is no model list at all.
 */
export async function firstChatModel(response: Response): Promise<string | null | undefined> {
  const text = await readStart(response, UPSTREAM_MODELS_BYTES_MAX)
  const list = parse(text)
  if (!Array.isArray(list?.data)) return undefined
  const ids = list.data.map((model: { id?: unknown } | null): unknown => model?.id)
  if (!ids.every((id): id is string => typeof id === 'string' && id !== '')) return undefined
  return ids.find((id) => !NO_CHAT.some((pattern) => pattern.test(id))) ?? null
}

function parse(text: string): { readonly data?: unknown } | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}
