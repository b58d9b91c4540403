import { useEffect, useRef, useState } from 'react'
import { loadChunk } from '../../lib/lazy-chunks.ts'
import type { MathToken } from './math-tokens.ts'

/** A longer formula would hold the page for too long. */
const TEX_CHARS_MAX = 4_000

/** A formula as MathML; its source while that loads and when it is invalid. */
export function Formula({ token: { text, raw, display } }: { readonly token: MathToken }) {
  const place = useRef<HTMLSpanElement>(null)
  const [isDrawn, setDrawn] = useState(false)
  useEffect(() => {
    const element = place.current
    if (!element || text.length > TEX_CHARS_MAX) return
    let isHere = true
    void loadChunk(() => import('temml')).then(({ default: temml }) => {
      if (!isHere) return
      try {
        temml.render(text, element, { displayMode: display, throwOnError: true })
        setDrawn(true)
      } catch {
        element.replaceChildren()
        setDrawn(false)
      }
    })
    return () => {
      isHere = false
    }
  }, [text, display])
  return (
    <span className={display ? 'formula' : undefined}>
      <span ref={place} />
      {!isDrawn && <code>{raw.trim()}</code>}
    </span>
  )
}
