import { basename } from 'node:path'
import { findLocalServers } from '../channels/openai/detect.ts'
import { listModels } from '../channels/openai/models.ts'
import {
  type Config,
  ConfigError,
  type Environment,
  givenSettings,
  loadConfig,
  SETTINGS,
} from '../config.ts'
import { createSeal, type Seal } from '../core/encryption.ts'
import { appError } from '../core/errors.ts'
import type { Logger } from '../core/log.ts'
import type { Secrets } from '../data-folder/secrets.ts'
import type { SystemRouteOptions } from '../features/system/routes.ts'
import { createSystem, ownerOf, type SettingTexts } from '../features/system/service.ts'
import { isSystemSetting } from '../features/system/settings.ts'
import { createSystemStore } from '../features/system/store.ts'
import { createTrial } from '../features/system/trial.ts'
import type { Tenants } from '../features/tenants/service.ts'
import type { Jobs } from '../jobs/runner.ts'
import type { Adapters } from './adapters.ts'
import { lookForModelPack } from './model-pack.ts'
import type { SealedSetting } from './storage.ts'
import { systemTries } from './system-tries.ts'

/** What the console has set, in this database; what cannot be deciphered is left out. */
export function readStoredSettings(
  sealed: readonly SealedSetting[],
  encryption: Secrets['encryption'],
  log: Logger,
): SettingTexts {
  return textsOf(sealed, encryption && createSeal(encryption), log)
}

function textsOf(
  rows: readonly { readonly name: string; readonly value_sealed: Uint8Array }[],
  seal: Seal | null,
  log: Logger,
): SettingTexts {
  const texts: Record<string, string> = {}
  for (const { name, value_sealed } of rows) {
    const text = seal?.open(value_sealed, ownerOf(name)) ?? null
    if (text !== null && isSystemSetting(name)) texts[name] = text
    else log.warn('a setting of the console is left out', { name })
  }
  return texts
}

/**
 * The settings in force: the environment's before the console's. Of the console's, those are left
 * out that do not go with this environment or this version: they must not keep the server down.
 */
export function effectiveConfig(env: Environment, stored: SettingTexts, log: Logger): Config {
  try {
    return loadConfig({ ...stored, ...givenSettings(env) })
  } catch (error) {
    if (!(error instanceof ConfigError) || Object.keys(stored).length === 0) throw error
    const { [error.setting ?? '']: wrong, ...rest } = stored
    log.warn('a setting of the console is left out', { reason: error.message })
    return effectiveConfig(env, wrong === undefined ? {} : rest, log)
  }
}

/** The text of a setting that nobody sets, as the environment would have it. */
function defaultOf(name: string): string | null {
  const parsed = SETTINGS[name as keyof typeof SETTINGS]?.safeParse(undefined)
  return parsed?.success && parsed.data !== undefined ? String(parsed.data) || null : null
}

/** Longest wait for a list of models, while a person looks on. */
const LIST_MS_MAX = 10_000
/** A server may be loading a model; at the start nobody can wait that long. */
const LOCAL_MS_MAX = 1_500

/** Wires the settings of the whole server. */
export function openSystem(
  adapters: Adapters,
  jobs: Jobs,
  tenants: Pick<Tenants, 'byId'>,
): SystemRouteOptions {
  const { clock, db, env, fetch, kb, live, log, secrets, shared, stored } = adapters
  const store = createSystemStore(db)
  const seal = secrets.encryption && createSeal(secrets.encryption)

  async function prepare(texts: SettingTexts) {
    try {
      return await live.prepare(loadConfig({ ...texts, ...givenSettings(env) }))
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      throw appError('field_invalid', { field: error.setting ?? '' }, { cause: error })
    }
  }

  const system = createSystem({
    ...{ store, seal },
    environment: givenSettings(env),
    ...{ stored, defaultOf, prepare },
    readStored: async () => (shared.isAlone ? null : textsOf(await store.all(), seal, log)),
    onApplied: () => jobs.run('embed anew', kb.reembed.run),
    announce: () => shared.announcer.announce('settings', ''),
  })
  shared.announcer.on('settings', system.reload)
  return {
    system,
    trial: createTrial({ clock, tries: systemTries(adapters) }),
    emailOf: async ({ userId }) => (await tenants.byId(userId ?? ''))?.email ?? '',
    async localModels() {
      const found = await findLocalServers({ fetch, clock, timeoutMs: LOCAL_MS_MAX })
      const servers = found.map(({ name, baseUrl, models }) => ({
        ...{ name, base_url: baseUrl, models: [...models] },
      }))
      return { servers }
    },
    modelPack() {
      const { pack, folder, program, models } = lookForModelPack(adapters.config)
      const { chat = null } = models
      return {
        ...{ folder, program: program && basename(program), model: chat && basename(chat) },
        complete: pack?.models.chat !== undefined,
        running: adapters.modelPack.servers.chat !== undefined,
      }
    },
    async modelsAt(endpoint, signal) {
      const until = AbortSignal.any([signal, AbortSignal.timeout(LIST_MS_MAX)])
      const { models, failure } = await listModels({ ...endpoint, fetch }, until)
      signal.throwIfAborted()
      return { models: [...models], error_class: failure ?? (models.length > 0 ? null : 'no_list') }
    },
  }
}
