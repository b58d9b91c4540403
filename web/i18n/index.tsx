import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import type { ErrorName } from '../api/client.ts'
import { keep, kept } from '../lib/kept.ts'
import { loadChunk } from '../lib/lazy-chunks.ts'
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
   * of a report. Null: unknown; empty until the words are there.
   */
  readonly words: (sentence: string, error?: ErrorName) => string | null
  readonly setLanguage: (language: Language) => void
}

/** The loaded texts of a language; those of the pages may be missing. */
export interface Texts {
  readonly dictionary: Partial<Dictionary>
  /** Null: loaded when the first error is shown. */
  readonly words: I18n['words'] | null
}

const SAVED = 'mb.language'

/** The chosen language, else the browser's preference. */
export function preferredLanguage(): Language {
  const saved = kept(SAVED)
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
  const { enChat } = await import('./en-chat.ts')
  return { dictionary: enChat, words: null }
}

async function loadEnglishWords(): Promise<I18n['words']> {
  const [{ errorInEnglish }, { inEnglish }] = await Promise.all([
    import('./error-words.ts'),
    import('./server-words.ts'),
  ])
  return (sentence, error) =>
    (error && errorInEnglish(error.code, error.params)) ?? inEnglish(sentence)
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
  const wanted = useRef(language)
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
  const english = useMemo(
    () =>
      once(async () => {
        const more = await loadEnglishWords().catch(() => () => null)
        setState((now) => (now.language === language ? { ...now, words: more } : now))
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
      words: (sentence, error) => {
        if (words) return words(sentence, error)
        english()
        return ''
      },
      setLanguage: (next) => {
        wanted.current = next
        keep(SAVED, next)
        if (next === language) return
        void loadChunk(() => loadTexts(next)).then(
          // Another one may have been chosen meanwhile.
          (texts) => wanted.current === next && setState({ ...texts, language: next }),
          () => location.reload(),
        )
      },
    }),
    [language, dictionary, words, pages, english],
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
