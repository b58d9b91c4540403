import { type HttpLoad, loadHttp } from './load-http.ts'
import { type Product, type Program, startReference, type Upstream } from './programs.ts'
import type { Row } from './report.ts'
import { alternate } from './rounds.ts'

const LOAD: HttpLoad = { connections: 32, seconds: 2 }
const WARM_UP: HttpLoad = { connections: 32, seconds: 0.5 }

const get = ({ url, headers }: Program, path: string) => {
  return { method: 'GET', url: `${url}${path}`, headers } as const
}

/** Light endpoints, with and without a key, against a server that answers two letters. */
export async function benchHttp(
  upstream: Upstream,
  prepared: Product,
  rounds: number,
): Promise<Row[]> {
  await using product = await prepared.start()
  await using bare = await startReference('ok', upstream.url)
  const requests = {
    bare: get(bare, '/'),
    sessions: get(product, '/v1/sessions?limit=1'),
    healthz: get(product, '/healthz'),
  }
  for (const request of Object.values(requests)) await loadHttp(request, WARM_UP)
  const results = await alternate(rounds, {
    bare: () => loadHttp(requests.bare, LOAD),
    sessions: () => loadHttp(requests.sessions, LOAD),
    healthz: () => loadHttp(requests.healthz, LOAD),
  })
  const rate = (name: keyof typeof results) =>
    results[name].map(({ requestsPerSecond }) => requestsPerSecond)
  const reference = { name: 'bare Bun.serve', values: rate('bare') }
  return [
    {
      measure: 'GET /v1/sessions?limit=1 with a key',
      unit: '1/s',
      product: rate('sessions'),
      reference,
      target: { atLeast: 0.7 },
    },
    {
      measure: 'GET /healthz',
      unit: '1/s',
      product: rate('healthz'),
      reference,
      target: null,
    },
  ]
}
