import { Fragment, type ReactNode, useEffect, useState } from 'react'
import { withIndexKeys } from '../../lib/index-keys.ts'
import { loadChunk } from '../../lib/lazy-chunks.ts'
import { CopyButton } from '../../ui/button.tsx'
import type { Highlighted } from './highlight.ts'

/** Code is coloured once its text has not grown for this long. */
const STILL_MS = 150
const COLOURED_CHARS_MAX = 20_000

interface CodeProps {
  readonly text: string
  /** The language after the fence; may be empty. */
  readonly language: string
}

/** A block of code with the name of its language. */
export function Code({ text, language }: CodeProps) {
  const coloured = useColours(text, language)
  return (
    <div className="code-block">
      <div className="code-head">
        <span>{language}</span>
        <CopyButton text={text} size="small" />
      </div>
      <pre className="code">
        <code>{coloured ? children(coloured) : text}</code>
      </pre>
    </div>
  )
}

function useColours(text: string, language: string): Highlighted | null {
  const [known, setKnown] = useState<{ text: string; tree: Highlighted | null } | null>(null)
  useEffect(() => {
    if (language === '' || text.length > COLOURED_CHARS_MAX) return
    let isHere = true
    const timer = setTimeout(async () => {
      const { highlight } = await loadChunk(() => import('./highlight.ts'))
      if (isHere) setKnown({ text, tree: highlight(text, language) })
    }, STILL_MS)
    return () => {
      isHere = false
      clearTimeout(timer)
    }
  }, [text, language])
  return known?.text === text ? known.tree : null
}

const children = ({ children: nodes }: Highlighted): ReactNode =>
  withIndexKeys(nodes).map(({ key, item }) => {
    if (item.type === 'text') return <Fragment key={key}>{item.value}</Fragment>
    if (item.type !== 'element') return null
    const { className } = item.properties
    return (
      <span key={key} className={Array.isArray(className) ? className.join(' ') : undefined}>
        {children({ children: item.children })}
      </span>
    )
  })
