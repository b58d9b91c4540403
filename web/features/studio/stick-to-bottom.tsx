import { ArrowDown } from 'lucide-react'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import type { Turn } from './turn.ts'

/** So near to the end the reader counts as at the end. */
const NEAR_PX = 40
/** The end is out of view by so much before the button leads there. */
const FAR_PX = 160

const distance = () => {
  const { scrollHeight, scrollTop, clientHeight } = document.documentElement
  return scrollHeight - scrollTop - clientHeight
}

function toEnd() {
  document.documentElement.scrollTop = document.documentElement.scrollHeight
}

/**
 * Scrolls to the end of the conversation and keeps it in view while it grows. Any movement up lets
 * go. `isHeld`: the conversation starts at a turn that was searched for, and not at the end.
 */
export function useEnd(session: string, turns: readonly Turn[], isHeld: boolean) {
  const content = useRef<HTMLDivElement>(null)
  const follows = useRef(!isHeld)
  const [isFar, setFar] = useState(false)
  const shown = useRef(session)
  const newest = turns.at(-1)?.id
  useEffect(() => {
    let before = document.documentElement.scrollTop
    const onScroll = () => {
      const { scrollTop } = document.documentElement
      const left = distance()
      if (left < NEAR_PX) follows.current = true
      else if (scrollTop < before) follows.current = false
      before = scrollTop
      setFar(left > FAR_PX)
    }
    const grown = new ResizeObserver(() => {
      if (follows.current) toEnd()
      else setFar(distance() > FAR_PX)
    })
    // With what stands below: the composer grows, too, and messages come above it.
    const talk = content.current?.parentElement
    if (talk) grown.observe(talk)
    addEventListener('scroll', onScroll, { passive: true })
    return () => {
      grown.disconnect()
      removeEventListener('scroll', onScroll)
    }
  }, [])
  const held = useRef(isHeld)
  useLayoutEffect(() => {
    if (shown.current !== session) {
      shown.current = session
      held.current = isHeld
      follows.current = !isHeld
    }
    if (newest === undefined) return
    const isFirst = held.current
    held.current = false
    if (isFirst) return
    follows.current = true
    toEnd()
  }, [newest, session, isHeld])
  const go = () => {
    follows.current = true
    toEnd()
  }
  return { content, isFar, go }
}

interface ToEndProps {
  readonly end: Pick<ReturnType<typeof useEnd>, 'isFar' | 'go'>
  /** Whether words come. */
  readonly running: boolean
}

/** The button back to the newest words, while they are out of view. */
export function ToEnd({ end, running }: ToEndProps) {
  const { t } = useI18n()
  if (!end.isFar) return null
  return (
    <button type="button" className="to-end" aria-label={t('studio.end')} onClick={end.go}>
      <ArrowDown size={17} aria-hidden />
      {running && <span className="dot" />}
    </button>
  )
}
