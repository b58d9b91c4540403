import { type Config, ConfigError, unknownSettings } from '../config.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import { createLogger, errorFields, type Logger } from '../core/log.ts'
import { banner } from './banner.ts'
import { compose } from './compose.ts'
import { openEmbedding } from './embedding.ts'
import { openKnowledge } from './knowledge.ts'
import { codePrinter } from './login-code.ts'
import { openPlatform } from './platform.ts'
import { openSecrets } from './secrets.ts'
import { openSpeech } from './speech.ts'
import { openStorage } from './storage.ts'
import { builtInTools } from './tools.ts'

type App = ReturnType<typeof compose>['app']

/** How long open turns may go on after the server was told to stop. */
const DRAIN_MS = 10_000

export interface ServeOptions {
  readonly config: Config
  readonly env: Readonly<Record<string, string | undefined>>
  readonly version: string
  readonly writerUrl: string
  readonly readerUrl: string
  readonly decoderUrl: string
  /** How this program starts itself. */
  readonly self: readonly string[]
  /** Whether a person looks at the output. */
  readonly terminal: boolean
  readonly write: (text: string) => void
}

/** Starts the server and resolves when it has stopped, after SIGTERM, SIGINT or a fault. */
export async function serve(options: ServeOptions): Promise<void> {
  const { config, terminal, write } = options
  const clock = systemClock()
  const log = createLogger({
    level: config.MB_LOG_LEVEL,
    json: !terminal,
    now: () => new Date(clock.now()),
    write,
  })
  for (const name of unknownSettings(options.env)) log.warn('unknown setting', { name })
  const { db, runtime, file, report } = await openStorage(
    config,
    new Date(clock.now()),
    options.writerUrl,
  )
  if (report.copy) log.info('database upgraded', { copy: report.copy })
  const secrets = openSecrets(config)
  const platform = await openPlatform(config, clock, fetch)
  const { readerUrl, decoderUrl, self } = options
  const speech = openSpeech({ config, clock, fetch, decoderUrl })
  const embedding = await openEmbedding({ config, runtime, self, clock, log, fetch })
  const kb = await openKnowledge({ db, file, readerUrl, embedder: embedding.embedder, clock, log })
  const tools = [...builtInTools(config, clock, fetch), kb.tool]
  const printCode = codePrinter({ clock, terminal, write })
  const parts = { config, clock, log, secrets, db, platform, kb, tools, speech, fetch, printCode }
  const { app, sse, jobs, buffers, people } = compose(parts)

  listen(app, config)
  const url = String(app.server?.url ?? '').replace(/\/$/, '')
  const facts = { url, config, platform: platform.get(), embedding, speech }
  if (terminal) write(banner({ ...facts, version: options.version }))
  log.info('listening', {
    url,
    channel: facts.platform.description,
    voice: speech.description,
  })

  const stop = async (signal: string) => {
    log.info('stopping', { signal, streams: sse.open() })
    // Resolves only when the last kept-alive connection is gone, so it is not waited for.
    void app.stop()
    await answered(app, clock, DRAIN_MS)
    sse.close()
    await answered(app, clock, 1_000)
    await app.stop(true)
    await closeAll(log, [
      jobs.close,
      people.close,
      buffers.logs.close,
      buffers.usage.close,
      kb.close,
      embedding.embedder.close,
      db.close,
    ])
  }
  await stop(await firstSignal())
}

/** `reusePort` off: a second server on the same folder would take half of the requests. */
function listen(app: App, { MB_HOST: hostname, MB_PORT: port }: Config): void {
  try {
    app.listen({ hostname, port, reusePort: false })
  } catch (error) {
    const code = (error as { code?: unknown }).code
    if (code !== 'EADDRINUSE') throw error
    throw new ConfigError(
      `MB_PORT ${port} is taken on ${hostname}; stop the other program or choose another port`,
    )
  }
}

/** Resolves when no request is being answered any more, or after `ms`. */
async function answered(app: App, clock: Clock, ms: number): Promise<void> {
  const deadline = clock.now() + ms
  while ((app.server?.pendingRequests ?? 0) > 0 && clock.now() < deadline) await clock.sleep(10)
}

function firstSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) {
      process.once(signal, () => resolve(signal))
    }
  })
}

/** In order; one that fails must not keep the next from closing. */
async function closeAll(log: Logger, parts: readonly (() => Promise<void>)[]): Promise<void> {
  for (const close of parts) {
    try {
      await close()
    } catch (error) {
      log.error('close failed', errorFields(error))
    }
  }
}
