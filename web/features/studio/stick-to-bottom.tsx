import { useEffect, useLayoutEffect, useRef } from 'react'
import type { History } from '../../api/types.ts'
import type { Turn } from './turn.ts'

const NEAR_PX = 120

interface StickToBottomProps {
  readonly turns: readonly Turn[]
  /** Turns before this visit; undefined while they load. */
  readonly past: History | undefined
}

/**
 * Scrolls to the end of the conversation and keeps it in view while it grows, until the reader
 * scrolls up.
 */
export function StickToBottom({ turns, past }: StickToBottomProps) {
  const near = useRef(true)
  const count = useRef(0)
  useEffect(() => {
    // Growing content causes no scroll event, so only the reader changes this.
    const onScroll = () => {
      const { scrollHeight, scrollTop, clientHeight } = document.documentElement
      near.current = scrollHeight - scrollTop - clientHeight < NEAR_PX
    }
    addEventListener('scroll', onScroll, { passive: true })
    return () => removeEventListener('scroll', onScroll)
  }, [])
  useLayoutEffect(() => {
    if (past && past.count > 0) toEnd()
  }, [past])
  useLayoutEffect(() => {
    const asked = turns.length > count.current
    count.current = turns.length
    if (turns.length === 0 || !(asked || near.current)) return
    near.current = true
    toEnd()
  }, [turns])
  return null
}

function toEnd() {
  document.documentElement.scrollTop = document.documentElement.scrollHeight
}
