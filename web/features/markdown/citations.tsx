import { createContext, Fragment, type ReactNode, useContext } from 'react'
import { withIndexKeys } from '../../lib/index-keys.ts'

/** Renders `[n]` of a reply, with the sentence that it supports; null where `n` is no source. */
export const Citations = createContext<((number: number, sentence: string) => ReactNode) | null>(
  null,
)

const MARK = /(\[\d{1,2}\])/
const SENTENCE = /[^.!?。！？\n]*[.!?。！？]?\s*$/u

/** A text in which the numbers of sources can be opened. */
export function Cited({ text }: { readonly text: string }): ReactNode {
  const cite = useContext(Citations)
  if (cite === null || !MARK.test(text)) return text
  let before = ''
  return withIndexKeys(text.split(MARK)).map(({ key, item }) => {
    const node = MARK.test(item) ? cite(Number(item.slice(1, -1)), sentenceAt(before)) : null
    if (node === null) before += item
    return <Fragment key={key}>{node ?? item}</Fragment>
  })
}

const sentenceAt = (text: string): string => text.match(SENTENCE)?.[0].trim() ?? ''
