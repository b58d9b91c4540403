import { expect } from 'bun:test'
import { startApp } from './app.ts'
import { patientClock } from './clock.ts'
import { postSse } from './sse.ts'
import { startUpstream } from './upstream.ts'

export type Conversation = Awaited<ReturnType<typeof startConversation>>

/** The product with a scripted model and one key. `silenceMs` is the wait for a silent model. */
export async function startConversation({ silenceMs = 20_000 } = {}) {
  const upstream = await startUpstream()
  const env = { MB_LLM_TIMEOUT_MS: String(silenceMs) }
  const app = await startApp({ upstream: upstream.baseUrl, env, clock: patientClock() })
  const key = await app.key()
  const { headers } = key
  let sessions = 0
  return {
    upstream,
    app,
    key,
    freshSession: () => `s${++sessions}`,
    ask: (body: object) => postSse(`${app.url}/v1/agent`, { headers, body }),
    history: async (session: string) =>
      (await fetch(`${app.url}/v1/sessions/${session}/history`, { headers })).json(),
    async stop() {
      await app[Symbol.asyncDispose]()
      await upstream.stop()
    },
  }
}

/** The `stats` event of a turn whose model calls told the usage that `upstream.reply` tells. */
export const turnStats = (channel: string, iterations = 1, more: object = {}) => ({
  type: 'stats',
  iterations,
  channel,
  input_tokens: 11 * iterations,
  output_tokens: 7 * iterations,
  usage_estimated: false,
  ...more,
})

/** What `turnStats` says of tokens when a call broke off after it had begun to answer. */
export const ESTIMATED = {
  input_tokens: expect.any(Number),
  output_tokens: expect.any(Number),
  usage_estimated: true,
}
