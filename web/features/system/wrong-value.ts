import { BACKUP_PASSPHRASE_CHARS_MIN } from '../../../src/core/limits/contract.ts'
import { ApiError } from '../../api/client.ts'
import { type Key, useI18n } from '../../i18n/index.tsx'
import { useExplain } from '../../lib/services.tsx'

/** The least and the most that the server takes for a number. */
export const RANGES: Readonly<Record<string, readonly [least: number, most: number]>> = {
  MB_KB_MAX_DOCS: [1, 10_000],
  MB_KB_MAX_DOC_KB: [1, 400],
  MB_KB_MAX_FILE_MB: [1, 100],
  MB_FILE_HOURS: [0.001, 720],
  MB_OCR_MAX_PAGES: [1, 1_000],
  MB_MAX_STREAMS: [1, 1_000_000],
  MB_LOG_DAYS: [1, 3_650],
  MB_BACKUP_KEEP: [1, 1_000],
}

const BACKUP_PLACES = ['MB_BACKUP_DIR', 'MB_BACKUP_S3']

/** Which form a value has to have, by the end of its setting's name; the first that fits. */
const FORMS: readonly (readonly [RegExp, Key])[] = [
  [/^MB_(TTS|ASR)_BASE_URL$/, 'system.wrong.speech'],
  [/^MB_SMTP_URL$/, 'system.wrong.smtp'],
  [/^MB_MAIL_FROM$/, 'system.wrong.sender'],
  [/^MB_SIGNUP$/, 'system.wrong.signup'],
  [/_URL$/, 'system.wrong.address'],
  [/_API_KEY$/, 'system.wrong.key'],
  [/^MB_ALLOW_PRIVATE_HOSTS$/, 'system.wrong.hosts'],
  [/^MB_BACKUP_EVERY$/, 'system.wrong.every'],
  [/^MB_BACKUP_S3$/, 'system.wrong.bucket'],
]

/** The setting that a refusal is about; undefined where it names none. */
export function refusedSetting(error: Error | null): string | undefined {
  const refusal = error instanceof ApiError ? error.error : undefined
  if (refusal?.code === 'backup_passphrase') return 'MB_BACKUP_PASSPHRASE'
  return refusal?.params.field
}

/** Why a backup failed, or a folder cannot take one. */
export const backupClass = (reason: string | null | undefined): Key =>
  `backups.class.${reason ?? 'error'}` as Key

function folderClass(error: Error): string | null {
  const refusal = error instanceof ApiError ? error.error : undefined
  return refusal?.code === 'backup_folder'
    ? (refusal.params.class?.replace('error', 'folder') ?? 'folder')
    : null
}

const SAID_HERE = ['field_invalid', 'backup_passphrase']
const saysHere = (error: Error) =>
  error instanceof ApiError && SAID_HERE.includes(error.error?.code ?? '')

/**
 * What to enter in place of a value that the server refused. `has` tells whether a setting of the
 * form holds anything, typed or saved.
 */
export function useRefusal() {
  const { t, locale } = useI18n()
  const explain = useExplain()
  const numbers = new Intl.NumberFormat(locale)
  function wordsOf(name: string, has: (name: string) => boolean): string | null {
    const [least, most] = RANGES[name] ?? []
    if (least !== undefined && most !== undefined) {
      const range = { least: numbers.format(least), most: numbers.format(most) }
      return t('system.wrong.number', range)
    }
    if (name === 'MB_BACKUP_PASSPHRASE') {
      return t('backups.passphrase.hint', { min: BACKUP_PASSPHRASE_CHARS_MIN })
    }
    if (BACKUP_PLACES.includes(name)) {
      if (BACKUP_PLACES.every(has)) return t('system.wrong.places')
      if (!has('MB_BACKUP_PASSPHRASE')) return t('system.wrong.phrase')
    }
    const form = FORMS.find(([pattern]) => pattern.test(name))
    return form ? t(form[1]) : null
  }
  return (error: Error, has: (name: string) => boolean = () => false): string => {
    const folder = folderClass(error)
    if (folder !== null) return t(backupClass(folder))
    const name = refusedSetting(error)
    return (name && saysHere(error) && wordsOf(name, has)) || explain(error)
  }
}
