import { type Config, ConfigError, type Environment, loadConfig } from '../config.ts'
import { createSeal, type Seal } from '../core/crypto.ts'
import type { Logger } from '../core/log.ts'
import type { Secrets } from '../data-folder/secrets.ts'
import { ownerOf, type SettingTexts } from '../features/system/service.ts'
import { isSystemSetting } from '../features/system/settings.ts'
import type { SealedSetting } from './opened-storage.ts'

/** The settings of the console, from this database; those that cannot be decrypted are left out. */
export function readStoredSettings(
  sealed: readonly SealedSetting[],
  encryption: Secrets['encryption'],
  log: Logger,
): SettingTexts {
  return textsOf(sealed, encryption && createSeal(encryption), log)
}

export function textsOf(
  rows: readonly SealedSetting[],
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
 * The settings in force; the environment has precedence over the console. Settings of the console
 * that are not valid with this environment or version are left out: the server must start anyway.
 */
export function effectiveConfig(env: Environment, stored: SettingTexts, log: Logger): Config {
  try {
    return loadConfig(env, stored)
  } catch (error) {
    if (!(error instanceof ConfigError) || Object.keys(stored).length === 0) throw error
    const { [error.setting ?? '']: wrong, ...rest } = stored
    log.warn('a setting of the console is left out', { reason: error.message })
    return effectiveConfig(env, wrong === undefined ? {} : rest, log)
  }
}
