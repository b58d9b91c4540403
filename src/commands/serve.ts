import ipaddr from 'ipaddr.js'
import { type Config, ConfigError, loadConfig, unknownSettings } from '../config.ts'
import { type Clock, systemClock, watchClock } from '../core/clock.ts'
import { createLogger, errorFields, type Logger } from '../core/log.ts'
import type { Meters } from '../core/meters.ts'
import {
  type FolderState,
  holdDataDir,
  secureDataDir,
  watchEmptyFolder,
} from '../data-folder/data-folder.ts'
import { codeOf, onDataDir } from '../data-folder/operator-error.ts'
import { createTenantStore } from '../features/tenants/store.ts'
import { openAdapters } from '../wiring/adapters.ts'
import { compose } from '../wiring/compose.ts'
import { type Invocation, parseArguments, UsageError } from './arguments.ts'
import { banner, codePrinter, isTerminal, startFacts } from './output.ts'
import { loadTls } from './tls.ts'

/** How long open turns may continue after a signal to stop. */
const DRAIN_MS = 10_000
/** npm and other parents pass Ctrl+C on, so one keystroke may arrive several times. */
const ECHO_MS = 1_000

/** Starts the server and resolves when it has stopped, after SIGTERM, SIGINT or a fault. */
export async function runServe({ args, env, version, program, write }: Invocation): Promise<void> {
  if (parseArguments(args, {}).positionals.length > 0) throw new UsageError('usage: moonbase serve')
  const config = loadConfig(env)
  const terminal = isTerminal()
  const clock = systemClock()
  const log = createLogger({
    level: config.MB_LOG_LEVEL,
    json: !terminal,
    now: () => new Date(clock.now()),
    write,
  })
  for (const name of unknownSettings(env)) log.warn('unknown setting', { name })
  const tls = loadTls(config)
  const { MB_DATA_DIR: folder } = config
  const removeTraces = watchEmptyFolder(folder)
  warnOfFolder(
    onDataDir(folder, () => secureDataDir(folder)),
    log,
  )
  const lock = holdDataDir(folder)
  const printCode = codePrinter({ clock, terminal, write })
  const opening = openAdapters({ env, clock, log, program, fetch, printCode })
  const adapters = await opening.catch((error: unknown) => {
    removeTraces()
    throw error
  })
  const { app, listener, wyoming: handler, ollama: keyless, sse, close } = compose(adapters)

  // Set before the server is announced: a signal without a handler ends the process at once.
  const signal = firstSignal(clock)
  listen(() => listener.start(app, { port: config.MB_PORT, ...(tls ? { tls } : {}) }), config)
  const wyoming = (await handler?.listen()) ?? null
  const ollama = await keyless.listen(app.handle, tls)
  const url = String(app.server?.url ?? '').replace(/\/$/, '')
  const facts = startFacts(url, adapters, {
    wyoming: wyoming?.description,
    ollama: ollama?.description,
  })
  const isNew = terminal && !(await createTenantStore(adapters.db).hasOperator())
  if (terminal) write(banner(facts, version, isNew))
  else log.info('listening', facts)

  watchClock(clock, log)
  outliveFaults(log, adapters.metrics.meters)

  const stop = async (signal: string) => {
    log.info('stopping', { signal, streams: sse.open() })
    // Not awaited: it resolves only after the last kept-alive connection has closed.
    void listener.stop()
    wyoming?.stop()
    ollama?.stop()
    const others = () => (wyoming?.busy() ?? 0) + (ollama?.busy() ?? 0)
    const pending = () => listener.pending() + others()
    await answered(pending, clock, DRAIN_MS)
    sse.close()
    wyoming?.close()
    ollama?.close()
    await answered(pending, clock, 1_000)
    await listener.stop(true)
    await close()
    lock.release()
  }
  await stop(await signal)
}

function warnOfFolder({ mended, open }: FolderState, log: Logger): void {
  if (mended) log.warn('other users could write to the data folder; closed to them')
  if (open) log.warn('other users can write to the data folder; its disk keeps no modes')
}

/**
 * Logs and counts an error that nothing awaits, such as one in a hook after an answer, and
 * continues: all that was acknowledged is on disk, and other turns are open
 * (src/decisions/068-unexpected-faults.md).
 */
function outliveFaults(log: Logger, meters: Pick<Meters, 'unexpectedFault'>): void {
  const tell = (error: unknown) => {
    log.error('unexpected fault', errorFields(error))
    meters.unexpectedFault()
  }
  process.on('uncaughtException', tell)
  process.on('unhandledRejection', tell)
}

const noHost = (host: string) =>
  `MB_HOST ${host} is no address; give one of this machine, such as 127.0.0.1 or 0.0.0.0`

const LISTEN_FAULTS: Readonly<Record<string, (host: string, port: number) => string>> = {
  EADDRINUSE: (host, port) =>
    `MB_PORT ${port} is taken on ${host}; stop the other program or choose another port`,
  EADDRNOTAVAIL: (host) => `MB_HOST ${host} is no address of this machine; try 0.0.0.0`,
  EINVAL: noHost,
  EACCES: (_, port) =>
    `MB_PORT ${port} needs the right to use ports below 1024; choose a higher one`,
}

function listen(start: () => void, { MB_HOST: hostname, MB_PORT: port }: Config): void {
  try {
    start()
  } catch (error) {
    // Resolvers have many codes for an unknown name, so any other error of a name counts as one.
    const told = LISTEN_FAULTS[codeOf(error)] ?? (ipaddr.isValid(hostname) ? undefined : noHost)
    throw told ? new ConfigError(told(hostname, port)) : error
  }
}

/** Resolves when nothing is pending, or after `ms`. */
async function answered(pending: () => number, clock: Clock, ms: number): Promise<void> {
  const deadline = clock.steady() + ms
  while (pending() > 0 && clock.steady() < deadline) await clock.sleep(10)
}

/** Resolves with the first signal to stop. Another one, a second later, ends the process. */
function firstSignal(clock: Clock): Promise<string> {
  return new Promise((resolve) => {
    let since: number | null = null
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) {
      process.on(signal, () => {
        resolve(signal)
        since ??= clock.steady()
        if (clock.steady() - since < ECHO_MS) return
        process.removeAllListeners(signal)
        process.kill(process.pid, signal)
      })
    }
  })
}
