import { Fragment } from 'react'
import { withIndexKeys } from '../lib/index-keys.ts'

interface MarkedProps {
  readonly text: string
  /** The words of a search, each of which is marked. */
  readonly query: string
}

/** A text in which the words of a query are marked. */
export function Marked({ text, query }: MarkedProps) {
  const words = query.match(/[\p{L}\p{N}]+/gu)
  if (!words) return text
  const parts = text.split(new RegExp(`(${words.join('|')})`, 'giu'))
  return withIndexKeys(parts).map(({ key, item }, index) =>
    index % 2 === 1 ? <mark key={key}>{item}</mark> : <Fragment key={key}>{item}</Fragment>,
  )
}
