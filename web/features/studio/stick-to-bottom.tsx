import { useEffect, useLayoutEffect, useRef } from 'react'
import type { Turn } from './turn.ts'

const NEAR_PX = 120

interface StickProps {
  readonly turns: readonly Turn[]
  /** Whether to start at a turn that was searched for, and not at the end. */
  readonly isHeld: boolean
}

/**
 * Scrolls to the end of the conversation and keeps it in view while its parent grows, until the
 * reader scrolls up. Another conversation needs another `key`.
 */
export function StickToBottom({ turns, isHeld }: StickProps) {
  const near = useRef(!isHeld)
  const held = useRef(isHeld)
  const place = useRef<HTMLSpanElement>(null)
  const newest = turns.at(-1)?.id
  useEffect(() => {
    // Growing content causes no scroll event, so only the reader changes this.
    const onScroll = () => {
      const { scrollHeight, scrollTop, clientHeight } = document.documentElement
      near.current = scrollHeight - scrollTop - clientHeight < NEAR_PX
    }
    const grown = new ResizeObserver(() => {
      if (near.current) toEnd()
    })
    const content = place.current?.parentElement
    if (content) grown.observe(content)
    addEventListener('scroll', onScroll, { passive: true })
    return () => {
      grown.disconnect()
      removeEventListener('scroll', onScroll)
    }
  }, [])
  useLayoutEffect(() => {
    if (newest === undefined) return
    const isFirst = held.current
    held.current = false
    if (isFirst) return
    near.current = true
    toEnd()
  }, [newest])
  return <span ref={place} hidden />
}

function toEnd() {
  document.documentElement.scrollTop = document.documentElement.scrollHeight
}
