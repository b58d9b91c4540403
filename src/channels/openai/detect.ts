import type { Clock } from '../../core/clock.ts'
import { UpstreamCall } from '../net/upstream-call.ts'
import type { UpstreamFetch } from '../net/upstream-fetch.ts'
import { firstChatModel } from './models.ts'

export interface LocalServer {
  readonly name: string
  readonly baseUrl: string
  /** The first chat model it lists. */
  readonly model: string
}

export interface DetectOptions {
  readonly fetch: UpstreamFetch
  readonly clock: Clock
  /** In order of preference. */
  readonly candidates?: readonly { readonly name: string; readonly port: number }[]
  readonly timeoutMs?: number
}

const USUAL = [
  { name: 'Ollama', port: 11434 },
  { name: 'LM Studio', port: 1234 },
  { name: 'llama.cpp', port: 8080 },
]

/**
 * Looks for a model server on its usual loopback port (contract, section 4, "Offline default"), all
 * at once. Null when none lists a chat model in time; never throws.
 */
export async function detectLocalServer({
  fetch,
  clock,
  candidates = USUAL,
  timeoutMs = 300,
}: DetectOptions): Promise<LocalServer | null> {
  async function look(name: string, port: number): Promise<LocalServer | null> {
    const call = new UpstreamCall(clock, timeoutMs, new AbortController().signal)
    const baseUrl = `http://127.0.0.1:${port}/v1`
    try {
      const response = await fetch(`${baseUrl}/models`, {
        headers: { accept: 'application/json' },
        signal: call.signal,
      })
      const model = response.ok ? await firstChatModel(response) : null
      return model ? { name, baseUrl, model } : null
    } catch {
      return null
    } finally {
      call.close()
    }
  }

  const found = await Promise.all(candidates.map(({ name, port }) => look(name, port)))
  return found.find((server) => server !== null) ?? null
}
