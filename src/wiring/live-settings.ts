import { type Config, ConfigError } from '../config.ts'
import { type Clock, MINUTE_MS } from '../core/clock.ts'
import { errorFields, type Logger } from '../core/log.ts'

/** How long a replaced part stays open for work that began with it. */
const RETIRED_MS = 10 * MINUTE_MS

/** A part of the server that depends on settings. */
interface LivePart {
  /** Makes the part with other settings; null when none that it uses has changed. */
  prepare(next: Config): Promise<Prepared | null>
  close(): Promise<void>
}

/** A new version of a part that is not used yet. */
interface Prepared {
  commit(): void
  discard(): Promise<void>
}

/** A part that depends on settings. Features read `current`, the version in use. */
export interface Live<Value> {
  readonly current: Value
}

export interface LiveOptions {
  readonly config: Config
  /** Used where a part cannot be made with `config`: only what the environment sets. */
  readonly fallback?: Config
  readonly clock: Pick<Clock, 'after'>
  readonly log: Logger
}

/**
 * The settings of the running server and the parts that depend on them. All parts that a change
 * concerns are made before the first is put in use, so a change applies whole or not at all.
 */
export function createLiveSettings({ config: start, fallback, clock, log }: LiveOptions) {
  let config = start
  const parts: LivePart[] = []

  return {
    config: (): Config => config,

    /**
     * A part that `make` makes with the settings `names`: now, and again with each change of one of
     * them. `close` closes a version that is no longer used.
     */
    async part<Value>(
      names: readonly (keyof Config)[],
      make: (config: Config) => Value | Promise<Value>,
      close: (value: Value) => Promise<void> = async () => {},
    ): Promise<Live<Value>> {
      const retired = new Set<Value>()
      const closeLogged = async (value: Value) => {
        retired.delete(value)
        await close(value).catch((error) => log.error('close failed', errorFields(error)))
      }
      const live = { current: await makeAtStart(make, start, fallback, log) }
      parts.push({
        async prepare(next) {
          if (names.every((name) => same(config[name], next[name]))) return null
          const value = await make(next)
          return {
            commit() {
              const old = live.current
              live.current = value
              retired.add(old)
              clock.after(RETIRED_MS, () => void (retired.has(old) && closeLogged(old)))
            },
            discard: () => closeLogged(value),
          }
        },
        close: async () => {
          await Promise.all([...retired, live.current].map(closeLogged))
        },
      })
      return live
    },

    /**
     * Makes the parts that a change concerns. Throws what `make` throws; nothing has changed then.
     */
    async prepare(next: Config): Promise<Prepared> {
      const made: Prepared[] = []
      const discard = async () => {
        await Promise.all(made.map((one) => one.discard()))
      }
      try {
        for (const part of parts) {
          const one = await part.prepare(next)
          if (one) made.push(one)
        }
      } catch (error) {
        await discard()
        throw error
      }
      return {
        commit() {
          for (const one of made) one.commit()
          config = next
        },
        discard,
      }
    },

    async close(): Promise<void> {
      await Promise.all(parts.map((part) => part.close()))
    },
  }
}

export type LiveSettings = ReturnType<typeof createLiveSettings>

/** Values of settings are texts, numbers, lists of texts, and bytes. */
const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** Settings of the console must not keep the server from starting: only there can one fix them. */
async function makeAtStart<Value>(
  make: (config: Config) => Value | Promise<Value>,
  config: Config,
  fallback: Config | undefined,
  log: Logger,
): Promise<Value> {
  try {
    return await make(config)
  } catch (error) {
    if (!(error instanceof ConfigError) || !fallback) throw error
    log.warn('settings of the console cannot be used', { reason: error.message })
    return make(fallback)
  }
}
