import type { Clock } from '../../core/clock.ts'
import { UpstreamCall, type UpstreamFetch } from '../../upstream/net/upstream-call.ts'
import { chatModelsFirst, isChatModel, listedModels } from './models.ts'

export interface LocalServer {
  readonly name: string
  readonly baseUrl: string
  /** All models that it lists, chat models first. */
  readonly models: readonly string[]
}

export interface DetectOptions {
  readonly fetch: UpstreamFetch
  readonly clock: Clock
  /** Programs and their ports, in order of preference. */
  readonly candidates?: readonly { readonly name: string; readonly port: number }[]
  readonly timeoutMs?: number
  /** Where this server itself answers as Ollama does. */
  readonly ownPort?: number | undefined
}

const USUAL = [
  { name: 'Ollama', port: 11434 },
  { name: 'LM Studio', port: 1234 },
  { name: 'llama.cpp', port: 8080 },
]

/**
 * The model servers on their usual loopback ports, all asked at once, that list models in time.
 * Never throws.
 */
export async function findLocalServers({
  fetch,
  clock,
  candidates = USUAL,
  timeoutMs = 300,
  ownPort,
}: DetectOptions): Promise<LocalServer[]> {
  async function look(name: string, port: number): Promise<LocalServer[]> {
    const call = new UpstreamCall(clock, timeoutMs, new AbortController().signal)
    const baseUrl = `http://127.0.0.1:${port}/v1`
    try {
      const response = await fetch(`${baseUrl}/models`, {
        headers: { accept: 'application/json' },
        signal: call.signal,
      })
      // Another server like this one would ask back.
      if (response.headers.has('x-moonbase')) return []
      const models = response.ok ? chatModelsFirst(await listedModels(response)) : []
      return models.length > 0 ? [{ name, baseUrl, models }] : []
    } catch {
      return []
    } finally {
      call.close()
    }
  }
  const others = candidates.filter(({ port }) => port !== ownPort)
  return (await Promise.all(others.map(({ name, port }) => look(name, port)))).flat()
}

/**
 * The first local server that lists a chat model, and that model; null when there is none.
 */
export async function detectLocalServer(
  options: DetectOptions,
): Promise<{ name: string; baseUrl: string; model: string } | null> {
  for (const { name, baseUrl, models } of await findLocalServers(options)) {
    const [model] = models
    if (model !== undefined && isChatModel(model)) return { name, baseUrl, model }
  }
  return null
}
