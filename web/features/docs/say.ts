import { useQuery } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { loadChunk } from '../../lib/lazy-chunks.ts'

type Say = (sentence: string) => string

const asItIs: Say = (sentence) => sentence

/** Translates the English sentences of the OpenAPI document to the reader's language. */
export const SayContext = createContext<Say>(asItIs)

export const useSay = () => useContext(SayContext)

/** Loads the Chinese sentences for Chinese readers only; until then they read English. */
export function useSentences(): Say {
  const { language } = useI18n()
  const { data } = useQuery({
    queryKey: ['reference words'],
    queryFn: () => loadChunk(() => import('../../i18n/reference-words.ts')),
    enabled: language === 'zh',
    staleTime: Number.POSITIVE_INFINITY,
  })
  return language === 'zh' && data ? data.inChinese : asItIs
}
