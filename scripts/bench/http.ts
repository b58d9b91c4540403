import { type HttpLoad, loadHttp } from './load-http.ts'
import { type Product, type Program, startReference, type Upstream } from './programs.ts'
import type { Row } from './report.ts'
import { alternate } from './rounds.ts'

const LOAD: HttpLoad = { connections: 32, seconds: 2 }
const WARM_UP: HttpLoad = { connections: 32, seconds: 0.5 }
/** A request that reads its key and one missing row only. */
const LIGHT = '/v1/provider'
const LIST = '/v1/sessions?limit=1'

const get = ({ url, headers }: Program, path: string) => {
  return { method: 'GET', url: `${url}${path}`, headers } as const
}

/** Light endpoints beside a server that answers two letters, and one that also looks up a key. */
export async function benchHttp(
  upstream: Upstream,
  prepared: Product,
  rounds: number,
): Promise<Row[]> {
  await using product = await prepared.start()
  await using bare = await startReference('ok', upstream.url)
  await using elysia = await startReference('elysia', upstream.url)
  const requests = {
    bare: get(bare, '/'),
    elysia: get(elysia, '/'),
    light: get(product, LIGHT),
    list: get(product, LIST),
    healthz: get(product, '/healthz'),
  }
  for (const request of Object.values(requests)) await loadHttp(request, WARM_UP)
  const rates = await alternate(rounds, {
    bare: () => loadHttp(requests.bare, LOAD),
    elysia: () => loadHttp(requests.elysia, LOAD),
    light: () => loadHttp(requests.light, LOAD),
    list: () => loadHttp(requests.list, LOAD),
    healthz: () => loadHttp(requests.healthz, LOAD),
  })
  const bareServe = { name: 'bare Bun.serve', values: rates.bare }
  const withKey = { name: 'Elysia, key, SQLite', values: rates.elysia }
  const row = (
    measure: string,
    name: 'light' | 'list' | 'healthz',
    reference: Row['reference'],
    atLeast: number | null,
  ): Row => ({
    measure,
    unit: '1/s',
    product: rates[name],
    reference,
    target: atLeast === null ? null : { atLeast },
  })
  return [
    row(`light endpoint with a key, ${LIGHT}`, 'light', bareServe, null),
    row(`light endpoint with a key, ${LIGHT}`, 'light', withKey, 0.6),
    row(`list with a key, ${LIST}`, 'list', withKey, null),
    row('without a key, /healthz', 'healthz', bareServe, null),
  ]
}
