import { type HttpLoad, loadHttp } from './load-http.ts'
import { type Product, type Program, startReference, type Upstream } from './programs.ts'
import type { Row } from './report.ts'
import { measureCase } from './rounds.ts'

const LOAD: HttpLoad = { connections: 32, seconds: 2 }
const WARM_UP: HttpLoad = { connections: 32, seconds: 0.5 }
/** A request that reads its key and one missing row only. */
const LIGHT = '/v1/provider'
const LIST = '/v1/sessions?limit=1'

/** Light endpoints beside a server that answers two letters, and one that also looks up a key. */
export async function benchHttp(
  upstream: Upstream,
  prepared: Product,
  rounds: number,
): Promise<Row[]> {
  await using product = await prepared.start()
  await using bare = await startReference('ok', upstream.url)
  await using elysia = await startReference('elysia', upstream.url)
  const requests = [
    [bare, '/'],
    [elysia, '/'],
    [product, LIGHT],
    [product, LIST],
    [product, '/healthz'],
  ] as const
  const load = ({ url, headers }: Program, path: string, how: HttpLoad) =>
    loadHttp({ method: 'GET', url: `${url}${path}`, headers }, how)
  for (const [program, path] of requests) await load(program, path, WARM_UP)
  const rate = { unit: '1/s', of: (value: number) => value }
  const bareServe = ['bare', 'bare Bun.serve'] as const
  const withKey = ['elysia', 'Elysia, key, SQLite'] as const
  const light = {
    measure: `light endpoint with a key, ${LIGHT}`,
    product: 'light',
    ...rate,
  } as const
  // Awaited here, because the programs end with this function.
  return await measureCase(rounds, {
    probes: {
      bare: () => load(bare, '/', LOAD),
      elysia: () => load(elysia, '/', LOAD),
      light: () => load(product, LIGHT, LOAD),
      list: () => load(product, LIST, LOAD),
      healthz: () => load(product, '/healthz', LOAD),
    },
    rows: [
      { ...light, reference: bareServe },
      { ...light, reference: withKey, target: { atLeast: 0.6 } },
      { measure: `list with a key, ${LIST}`, product: 'list', reference: withKey, ...rate },
      { measure: 'without a key, /healthz', product: 'healthz', reference: bareServe, ...rate },
    ],
  })
}
