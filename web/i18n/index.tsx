import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react'
import type { zh } from './zh.ts'

export type Language = 'zh' | 'en'
export type Key = keyof typeof zh
export type Dictionary = Readonly<Record<Key, string>>
type Values = Readonly<Record<string, string | number>>

export interface I18n {
  readonly language: Language
  readonly locale: string
  /** The text of a key with `{name}` filled in. */
  readonly t: (key: Key, values?: Values) => string
  readonly setLanguage: (language: Language) => void
}

const SAVED = 'mb.language'

/** What was chosen, else what the browser prefers. */
export function preferredLanguage(): Language {
  const saved = localStorage.getItem(SAVED)
  if (saved === 'zh' || saved === 'en') return saved
  const wanted = navigator.languages.find((name) => /^(zh|en)\b/.test(name))
  return wanted && !wanted.startsWith('zh') ? 'en' : wanted ? 'zh' : 'en'
}

/** Each language is a file of its own; only the one in use is loaded. */
export const loadDictionary = async (language: Language): Promise<Dictionary> =>
  language === 'zh' ? (await import('./zh.ts')).zh : (await import('./en.ts')).en

const Context = createContext<I18n | null>(null)

interface ProviderProps {
  readonly initial: { readonly language: Language; readonly dictionary: Dictionary }
  readonly children: ReactNode
}

export function I18nProvider({ initial, children }: ProviderProps) {
  const [{ language, dictionary }, setState] = useState(initial)
  const value = useMemo<I18n>(
    () => ({
      language,
      locale: language === 'zh' ? 'zh-CN' : 'en-GB',
      t: (key, values) => fill(dictionary[key], values),
      setLanguage: (next) => {
        localStorage.setItem(SAVED, next)
        void loadDictionary(next).then((loaded) => {
          setState({ language: next, dictionary: loaded })
        })
      },
    }),
    [language, dictionary],
  )
  useEffect(() => {
    document.documentElement.lang = value.locale
  }, [value.locale])
  return <Context value={value}>{children}</Context>
}

const fill = (text: string, values: Values = {}) =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))

export function useI18n(): I18n {
  const value = useContext(Context)
  if (!value) throw new Error('useI18n outside I18nProvider')
  return value
}
