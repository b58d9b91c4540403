import { useEffect, useLayoutEffect, useRef } from 'react'
import type { Turn } from './turn.ts'

const NEAR_PX = 120

/** Keeps the end in view while it grows, until the reader scrolls away from it. */
export function Follow({ turns }: { readonly turns: readonly Turn[] }) {
  const near = useRef(true)
  const count = useRef(0)
  useEffect(() => {
    // What grows below makes no scroll event, so this changes by the reader's hand alone.
    const onScroll = () => {
      const { scrollHeight, scrollTop, clientHeight } = document.documentElement
      near.current = scrollHeight - scrollTop - clientHeight < NEAR_PX
    }
    addEventListener('scroll', onScroll, { passive: true })
    return () => removeEventListener('scroll', onScroll)
  }, [])
  useLayoutEffect(() => {
    const asked = turns.length > count.current
    count.current = turns.length
    if (turns.length === 0 || !(asked || near.current)) return
    near.current = true
    document.documentElement.scrollTop = document.documentElement.scrollHeight
  }, [turns])
  return null
}
