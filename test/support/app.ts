import { Resolver } from 'node:dns/promises'
import { fileURLToPath } from 'node:url'
import { codePrinter } from '../../src/commands/output.ts'
import { programAt } from '../../src/commands/program.ts'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import { IDLE_SECONDS_MAX } from '../../src/core/limits/machine.ts'
import { createLogger } from '../../src/core/log.ts'
import type { KeyScope } from '../../src/features/keys/service.ts'
import { createTenants } from '../../src/features/tenants/service.ts'
import { createTenantStore, type User } from '../../src/features/tenants/store.ts'
import { createSessionTokens } from '../../src/http/session.ts'
import type { Embedder } from '../../src/upstream/ports/embedder.ts'
import { openAdapters } from '../../src/wiring/adapters.ts'
import { compose } from '../../src/wiring/compose.ts'
import type { ServerLimits } from '../../src/wiring/http.ts'
import { dropPostgres, postgresSettings } from './postgres.ts'
import { createProcessOutput } from './process-output.ts'
import { tempFolder } from './temp.ts'

export interface AppOptions extends ServerLimits {
  /** Root of the model upstream; without one the built-in responder answers. */
  readonly upstream?: string
  readonly env?: Readonly<Record<string, string>>
  /** Replaces the system clock, to move time forward. */
  readonly clock?: Clock
  /** Replaces the idle limit of minutes; the server keeps it to within four seconds. */
  readonly idleSeconds?: number
  /** Replaces the shipped embedding model. */
  readonly embedder?: Embedder
  /** The data folder, such as that of an earlier app; by default a new one. */
  readonly dataDir?: string
  /** Replaces the writer thread of the product. */
  readonly writerUrl?: string
  /** Replaces the system's name servers for host names that tenants supply. */
  readonly nameServer?: string
  /** Replaces `fetch`, so that requests to login providers reach stand-ins. */
  readonly fetch?: typeof fetch
}

function queryAt(server: string) {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  resolver.setServers([server])
  return resolver
}

export interface TestKey {
  readonly id: string
  readonly tenantId: string
  readonly key: string
  readonly headers: { readonly authorization: string }
}

export interface TestPerson {
  readonly tenantId: string
  readonly headers: { readonly cookie: string }
}

export type TestApp = Awaited<ReturnType<typeof startApp>>

/** Paths of the worker threads, and the command that starts the product again. */
const MAIN = new URL('../../src/main.ts', import.meta.url)
const PROGRAM = programAt(MAIN.href, [process.execPath, fileURLToPath(MAIN)])

/** `MOONBASE_TEST_DATABASE=postgres bun test test/api` runs the tests of the API on PostgreSQL. */
export const ON_POSTGRES = process.env.MOONBASE_TEST_DATABASE === 'postgres'

/**
 * The whole product in this process: real files, a real port, every part wired as the command line
 * wires it. `await using app = await startApp(...)`.
 */
export async function startApp(options: AppOptions = {}) {
  const folder = tempFolder()
  const dataDir = options.env?.MB_DATA_DIR ?? options.dataDir ?? folder.path
  const env = {
    MB_DATA_DIR: dataDir,
    MB_LLM_DETECT: 'false',
    ...(ON_POSTGRES ? await postgresSettings(dataDir) : {}),
    ...(options.upstream ? { MB_LLM_BASE_URL: options.upstream, MB_LLM_MODEL: 'fake' } : {}),
    ...options.env,
  }
  const clock = options.clock ?? systemClock()
  const printed = createProcessOutput()
  const now = () => new Date(clock.now())
  const log = createLogger({ level: 'debug', json: true, now, write: printed.add })
  const printCode = codePrinter({ clock, terminal: false, write: printed.add })
  const { embedder, idleSeconds: idleTimeout = IDLE_SECONDS_MAX } = options
  const adapters = await openAdapters({
    env,
    clock,
    log,
    program: { ...PROGRAM, writerUrl: options.writerUrl ?? PROGRAM.writerUrl },
    fetch: options.fetch ?? fetch,
    printCode,
    ...(embedder ? { embedder } : {}),
    ...(options.nameServer ? { openQuery: async () => queryAt(options.nameServer ?? '') } : {}),
  })
  const { db } = adapters
  const parts = compose(adapters, { personRequestsMax: 0, studioTurnsMax: 0, ...options })
  const { app, budget, sse, jobs, keys, buffers, prune, sources, servers, close, kb, webhooks } =
    parts
  const { listener, runs } = parts
  listener.start(app, { port: 0, idleTimeout })
  const wyoming = (await parts.wyoming?.listen()) ?? null
  const ollama = await parts.ollama.listen(app.handle)
  const url = String(app.server?.url).replace(/\/$/, '')
  const tenants = createTenants({ store: createTenantStore(db), clock })
  const tokens = createSessionTokens({ secret: adapters.secrets.session, clock })

  const personOf = ({ user_id: userId, tenant_id, session_epoch: epoch }: User): TestPerson => ({
    tenantId: tenant_id,
    headers: { cookie: `mb_session=${tokens.issue({ userId, epoch })}` },
  })

  return {
    url,
    /** Settings with which a command works on the same database, beside its data folder. */
    databaseEnv: ON_POSTGRES ? await postgresSettings(dataDir) : {},
    routes: app.routes,
    dataDir: folder.path,
    db,
    kb,
    embedderNow: () => adapters.embedding.current.shared,
    jobs,
    runs,
    /**
     * Resolves when the runs that are due have ended. They wait while a person of their tenant is
     * answered, so no turn may be open that the test does not end.
     */
    async runsEnded(): Promise<void> {
      const ids = await db.all<{ id: string }>({ sql: 'SELECT id FROM tenant', args: [] })
      while (ids.some(({ id }) => runs.openTurns(id) > 0)) await Bun.sleep(1)
      await runs.tick()
      await jobs.idle()
    },
    webhooks,
    /** Memory that all open requests hold. */
    budget,
    /** The port for Wyoming clients, where one is set. */
    wyomingPort: wyoming?.port ?? 0,
    /** The port for clients of Ollama without a key, where one is set. */
    ollamaPort: ollama?.port ?? 0,
    /** Everything the server logged so far. */
    log: printed.text,
    printed,
    /** A key of the tenant of `email`, by default unlimited and general. */
    async key(email = 'a@example.com', scope: KeyScope = {}): Promise<TestKey> {
      const { tenant_id } = await tenants.ensure(email)
      const { id, key } = await keys.issue(tenant_id, { rateLimit: 0, ...scope })
      return { id, tenantId: tenant_id, key, headers: { authorization: `Bearer ${key}` } }
    },
    /** A session of the person of `email`, made without the login flow. */
    async person(email = 'a@example.com'): Promise<TestPerson> {
      return personOf(await tenants.ensure(email))
    },
    /** The same of the first person who signs in here, who runs the server. */
    async operator(email = 'operator@example.com'): Promise<TestPerson> {
      const user = await tenants.signIn((await tenants.ensure(email)).user_id)
      if (!user?.operator) throw new Error('somebody else signed in first')
      return personOf(user)
    },
    /** Writes buffered rows, such as log rows and usage, to the database. */
    async flush(): Promise<void> {
      // Requests are recorded after their answers, when the event loop has gone round.
      await new Promise((resolve) => setImmediate(resolve))
      await Promise.all(Object.values(buffers).map((buffer) => buffer.flush()))
    },
    /** Starts the work on all sources that are due, which the product does every second. */
    startSources: sources.startDue,
    /** Runs the scheduled clean-up of the request log and the audit now. */
    prune,
    /** Takes deleted data from the disk, which the server does at intervals. */
    async erase(): Promise<void> {
      // Work that has begun does not see what was deleted since, and a reader may hold the log.
      for (let times = 0; times < 5; times++) await db.erase?.(new AbortController().signal)
    },
    /** Lists MCP servers whose next attempt is due, which the product does every minute. */
    async retryMcp(): Promise<void> {
      await servers.retryDue()
      await jobs.idle()
    },
    /** Ends open turns, as a server does that was told to stop. */
    stopTurns: sse.close,
    async [Symbol.asyncDispose]() {
      sse.close()
      wyoming?.close()
      ollama?.close()
      await listener.stop(true)
      await close()
      await dropPostgres(folder.path)
      folder[Symbol.dispose]()
    },
  }
}
