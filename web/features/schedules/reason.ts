import { type Key, useI18n } from '../../i18n/index.tsx'

const WORDS: ReadonlyMap<string, Key> = new Map([
  ['forbidden', 'schedules.failed.forbidden'],
  ['not_found', 'schedules.failed.gone'],
  ['interrupted', 'schedules.failed.interrupted'],
  ['internal', 'schedules.failed.internal'],
  ['budget_spent', 'schedules.failed.budget'],
])

/** Why a run failed, in the reader's words; a code without words of its own is named. */
export function useReason(): (code: string) => string {
  const { t } = useI18n()
  return (code) => {
    if (code.startsWith('model_')) return t('schedules.failed.model')
    return t(WORDS.get(code) ?? 'schedules.failed.other', { code })
  }
}
