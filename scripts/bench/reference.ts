// A program: the reference for the product that $BENCH_REFERENCE names.
//   ok       answers every request with two letters
//   elysia   the same by the product's framework, after a look-up of the key in the database
//   raw      relays a turn: parses the upstream's chunks, writes the events
//   full     raw, and looks the key up, reads the history and stores the turn
//   durable  full, with one commit for each turn, which survives a power cut
import { relay } from './reference-relay.ts'
import { openStore } from './reference-store.ts'

const { BENCH_REFERENCE: kind, BENCH_UPSTREAM: upstream = '', BENCH_KEY: key = '' } = process.env
const folder = process.env.MB_DATA_DIR ?? '.'
const stores = kind !== 'ok' && kind !== 'raw'
const store = stores ? openStore(folder, key, kind === 'durable') : null

interface Turn {
  readonly text: string
  readonly session_id: string
}

async function answer(request: Request): Promise<Response> {
  if (kind === 'ok' || request.method === 'GET') return new Response('ok')
  const tenant = store ? store.tenantOf(request.headers.get('authorization')) : ''
  if (tenant === null) return new Response('unauthorized', { status: 401 })
  const { text, session_id: session } = (await request.json()) as Turn
  return relay(upstream, {
    text,
    history: store?.history(tenant, session) ?? [],
    store: (reply) => store?.addTurn(tenant, session, text, reply),
  })
}

/** Only its own reference loads the framework, so that the others stay small. */
async function serve(): Promise<URL> {
  const where = { port: 0, hostname: '127.0.0.1', idleTimeout: 0, development: false }
  if (kind !== 'elysia' || !store) return Bun.serve({ ...where, fetch: answer }).url
  const { Elysia } = await import('elysia')
  const app = new Elysia({ serve: where })
    .get('/healthz', () => 'ok')
    .get('/', ({ headers, status }) =>
      store.tenantOf(headers.authorization ?? null) === null ? status(401) : 'ok',
    )
    .listen(where)
  if (!app.server) throw new Error('the framework does not listen')
  return app.server.url
}

const url = await serve()
process.stdout.write(`${JSON.stringify({ event: 'listening', url: url.href })}\n`)
