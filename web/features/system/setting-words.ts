import type { SystemSetting } from '../../api/types.ts'
import { type Key, useI18n } from '../../i18n/index.tsx'
import { listed } from '../../lib/listed.ts'
import { CHOICES, kindOf, type SystemSection, sectionOfSetting } from './parts.ts'

/** Settings and their values as people know them, in place of names and codes. */
export function useSettingWords() {
  const { t, locale } = useI18n()

  /** What a form calls the setting. */
  const labelOf = (name: string): string => {
    const kind = kindOf(name)
    return t((kind ? `system.kind.${kind}` : `system.name.${name}`) as Key)
  }
  const choiceOf = (choice: string): string => t(`system.choice.${choice}` as Key)
  const wordsOf = ({ name, value }: Pick<SystemSetting, 'name' | 'value'>): string => {
    if (value === null) return ''
    if (name === 'MB_SIGNIN')
      return listed(
        listOf(value).map((way) => t(`system.way.${way}` as Key)),
        locale,
      )
    return CHOICES[name]?.includes(value) ? choiceOf(value) : value
  }

  /** Digits alone are grouped as the language does. */
  const numberOf = (text: string): string =>
    /^\d{4,15}$/.test(text) ? Number(text).toLocaleString(locale) : text

  return {
    labelOf,
    choiceOf,
    /** A value in words where it is chosen from a list. */
    wordsOf,
    /** The setting by itself, such as in the audit: "Language model: Key". */
    fullNameOf(name: string): string {
      const section = sectionOfSetting(name)
      return section && kindOf(name)
        ? t('system.summary', { name: t(`system.${section.id}`), value: labelOf(name) })
        : labelOf(name) || name
    },
    /** What holds, without secrets; where nothing is set, what the server does then. */
    summaryOf({ id }: SystemSection, settings: readonly SystemSetting[]): readonly string[] {
      const isShown = ({ value, source }: SystemSetting) =>
        value !== null && value !== '' && (id === 'limits' || source !== 'default')
      const parts = settings.filter(isShown).flatMap((one) => {
        if (isNamed(id))
          return t('system.summary', { name: labelOf(one.name), value: numberOf(wordsOf(one)) })
        // A switch says nothing without its name.
        return one.value === 'true' || one.value === 'false' ? [] : wordsOf(one)
      })
      if (parts.length === 0) return [t(`system.unset.${id}`)]
      return isNamed(id) ? parts : [parts.join(' · ')]
    },
  }
}

/** Whether the values of a section mean nothing without their names. */
const isNamed = (id: SystemSection['id']) => id === 'limits' || id === 'backup'

export const listOf = (value: string): string[] =>
  value
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
