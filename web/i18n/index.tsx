import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react'
import type { Dictionary, Key } from './dictionary.ts'

export type Language = 'zh' | 'en'
export type { Dictionary, Key }

type Values = Readonly<Record<string, string | number>>

export interface I18n {
  readonly language: Language
  readonly locale: string
  /** The text of a key with `{name}` filled in; numbers in the language's way. */
  readonly t: (key: Key, values?: Values) => string
  /**
   * Translates a Chinese sentence of the server to the current language, by its code or as a line
   * of a report. Null: unknown.
   */
  readonly words: (sentence: string, error?: ErrorName) => string | null
  readonly setLanguage: (language: Language) => void
}

/** The code and values of an error. */
export interface ErrorName {
  readonly code: string
  readonly params: Readonly<Record<string, string>>
}

/** The loaded texts of a language; those of the pages may be missing. */
export interface Texts {
  readonly dictionary: Partial<Dictionary>
  readonly words: I18n['words']
}

const SAVED = 'mb.language'

/** The chosen language, else the browser's preference. */
export function preferredLanguage(): Language {
  const saved = localStorage.getItem(SAVED)
  if (saved === 'zh' || saved === 'en') return saved
  const wanted = navigator.languages.find((name) => /^(zh|en)\b/.test(name))
  return wanted?.startsWith('zh') ? 'zh' : 'en'
}

/** The texts of what a first visit shows, in a file of their own. */
export async function loadTexts(language: Language): Promise<Texts> {
  if (language === 'zh') {
    const { zhChat } = await import('./zh-chat.ts')
    return { dictionary: zhChat, words: (sentence) => sentence }
  }
  const [{ enChat }, { errorInEnglish }, { inEnglish }] = await Promise.all([
    import('./en-chat.ts'),
    import('./error-words.ts'),
    import('./server-words.ts'),
  ])
  const words: I18n['words'] = (sentence, error) =>
    (error && errorInEnglish(error.code, error.params)) ?? inEnglish(sentence)
  return { dictionary: enChat, words }
}

/** The texts of all other pages; they come with the first of these. */
export async function loadPageTexts(language: Language): Promise<Partial<Dictionary>> {
  if (language === 'zh') return (await import('./zh-pages.ts')).zhPages
  return (await import('./en-pages.ts')).enPages
}

const Context = createContext<I18n | null>(null)

interface ProviderProps {
  readonly initial: Texts & { readonly language: Language }
  readonly children: ReactNode
}

export function I18nProvider({ initial, children }: ProviderProps) {
  const [{ language, dictionary, words }, setState] = useState(initial)
  const pages = useMemo(
    () =>
      once(async () => {
        const more = await loadPageTexts(language)
        setState((now) =>
          now.language === language ? { ...now, dictionary: { ...now.dictionary, ...more } } : now,
        )
      }),
    [language],
  )
  const value = useMemo<I18n>(
    () => ({
      language,
      locale: language === 'zh' ? 'zh-CN' : 'en-GB',
      t: (key, values) => {
        const text = dictionary[key]
        // A part of the chat that is seldom opened: the text is there a moment later.
        if (text === undefined) pages()
        return fill(text ?? '', values, language)
      },
      words,
      setLanguage: (next) => {
        localStorage.setItem(SAVED, next)
        void loadTexts(next).then((texts) => setState({ ...texts, language: next }))
      },
    }),
    [language, dictionary, words, pages],
  )
  useEffect(() => {
    document.documentElement.lang = value.locale
  }, [value.locale])
  return <Context value={value}>{children}</Context>
}

/** Does `work` at the first call, and again at one after it has failed. */
function once(work: () => Promise<void>): () => void {
  let isBegun = false
  return () => {
    if (isBegun) return
    isBegun = true
    work().catch(() => {
      isBegun = false
    })
  }
}

const fill = (text: string, values: Values = {}, locale: string) =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) =>
    (values[name] ?? whole).toLocaleString(locale),
  )

export function useI18n(): I18n {
  const value = useContext(Context)
  if (!value) throw new Error('useI18n outside I18nProvider')
  return value
}
