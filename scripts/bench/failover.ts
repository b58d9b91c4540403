import { createKey } from '../../test/support/key.ts'
import { startServer } from '../../test/support/server.ts'
import { tempFolder } from '../../test/support/temp.ts'
import { loadStreams, type StreamTarget } from './load-sse.ts'
import { agentTurns, type Product, type Upstream } from './programs.ts'
import type { Row } from './report.ts'
import { alternate } from './rounds.ts'
import { quantile } from './stats.ts'

const LOAD = { streams: 1, requests: 60, tokens: 4 } as const
/** Turns that fail at once, more than enough for the channel to be skipped. */
const TURNS_TO_SKIP = 10

/** What a tenant's own channel adds to the first token of the platform's, by what becomes of it. */
export async function benchFailover(
  upstream: Upstream,
  _: Product,
  rounds: number,
): Promise<Row[]> {
  using folder = tempFolder()
  const env = {
    MB_LLM_BASE_URL: `${upstream.url}/v1`,
    MB_LLM_MODEL: 'fake',
    MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1',
  }
  const target = async (server: { url: string }, name: string, base: string | null) => {
    const { headers } = await createKey(folder.path, { email: `${name}@example.com`, env })
    if (base !== null) {
      const body = JSON.stringify({ base_url: `${upstream.url}${base}`, api_key: 'sk-bench' })
      const answer = await fetch(`${server.url}/v1/provider`, { method: 'PUT', headers, body })
      if (!answer.ok) throw new Error(`PUT /v1/provider answered ${answer.status}`)
    }
    return agentTurns(server.url, headers)
  }

  await using server = await startServer({ dataDir: folder.path, env })
  const targets = {
    platform: await target(server, 'platform', null),
    own: await target(server, 'own', '/v1'),
    refused: await target(server, 'refused', '/fail/401/v1'),
    skipped: await target(server, 'skipped', '/fail/503/v1'),
  }
  await upstream.plan({ tokens: LOAD.tokens, delayMs: 0 })
  const firstMs = (name: keyof typeof targets) => async () => {
    if (name === 'skipped') await failUntilSkipped(targets.skipped)
    const { firstMs: times } = await loadStreams(targets[name], LOAD)
    return quantile(times, 0.5)
  }
  const results = await alternate(rounds, {
    platform: firstMs('platform'),
    own: firstMs('own'),
    refused: firstMs('refused'),
    skipped: firstMs('skipped'),
  })
  const row = (measure: string, product: readonly number[]): Row => ({
    measure,
    unit: 'ms',
    product,
    reference: { name: 'platform turn', values: results.platform },
    target: null,
  })
  return [
    row('first token p50, own channel', results.own),
    row('first token p50, own channel refuses', results.refused),
    row('first token p50, own channel skipped', results.skipped),
  ]
}

/** The channel is skipped for some seconds, which is longer than one measure takes. */
async function failUntilSkipped(target: StreamTarget): Promise<void> {
  await loadStreams(target, { streams: TURNS_TO_SKIP, requests: TURNS_TO_SKIP, tokens: 4 })
}
