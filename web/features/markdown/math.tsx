import { useEffect, useRef, useState } from 'react'
import { loadChunk } from '../../lib/lazy-chunks.ts'
import type { MathToken } from './math-tokens.ts'

/** Lengths in a formula, in em and in points: a formula does not cover the page. */
export const SIZE_MAX: [number, number] = [20, 240]

/** A wide formula scrolls sideways, by the arrow keys, too. */
const DISPLAYED = { className: 'formula', tabIndex: 0 } as const

/** A formula as MathML; its source while that loads and when it is invalid. */
export function Formula({ token: { text, raw, display } }: { readonly token: MathToken }) {
  const place = useRef<HTMLSpanElement>(null)
  const [isDrawn, setDrawn] = useState(false)
  useEffect(() => {
    const element = place.current
    if (!element) return
    let isHere = true
    const draw = ({ default: temml }: typeof import('temml')) => {
      if (!isHere) return
      try {
        temml.render(text, element, { displayMode: display, throwOnError: true, maxSize: SIZE_MAX })
        setDrawn(true)
      } catch {
        element.replaceChildren()
        setDrawn(false)
      }
    }
    // Where it cannot be loaded, the frame says so, and the source stays.
    loadChunk(() => import('temml')).then(draw, () => {})
    return () => {
      isHere = false
    }
  }, [text, display])
  return (
    <span {...(display ? DISPLAYED : {})}>
      <span ref={place} />
      {!isDrawn && <code>{raw.trim()}</code>}
    </span>
  )
}
