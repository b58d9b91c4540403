import { ArrowDown } from 'lucide-react'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { useStable } from '../../lib/use-stable.ts'

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

interface EndOptions {
  /** What is shown: it begins at its end. */
  readonly place: string
  /** It begins at a turn that was looked for, and not at its end. */
  readonly isHeld: boolean
  /** The last turn; null while its end is not loaded, undefined while nothing is. */
  readonly newest: string | null | undefined
  /** Loads the end. */
  readonly onWanted: () => void
}

/**
 * Scrolls to the end of the conversation and keeps it in view while it grows. Any movement up lets
 * go.
 */
export function useEnd({ place, isHeld, newest, onWanted }: EndOptions) {
  const content = useRef<HTMLDivElement>(null)
  const follows = useRef(!isHeld)
  const [isFar, setFar] = useState(false)
  const shown = useRef(place)
  const isPart = newest === null
  const onScrolled = useStable((isUp: boolean) => {
    const left = distance()
    if (left < NEAR_PX && !isPart) follows.current = true
    else if (isUp) follows.current = false
    setFar(left > FAR_PX)
  })
  useEffect(() => {
    let before = document.documentElement.scrollTop
    const onScroll = () => {
      const { scrollTop } = document.documentElement
      onScrolled(scrollTop < before)
      before = scrollTop
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
  }, [onScrolled])
  const held = useRef(isHeld)
  const want = useStable(onWanted)
  useLayoutEffect(() => {
    if (shown.current !== place) {
      shown.current = place
      held.current = isHeld
      follows.current = !isHeld
    }
    if (newest === undefined) return
    // Whoever scrolls to where the end is loaded goes on from there.
    const isFirst = held.current
    held.current = newest === null
    if (isFirst && !follows.current) return
    if (newest !== null) {
      follows.current = true
      toEnd()
    } else if (follows.current) want()
  }, [newest, place, isHeld, want])
  const go = () => {
    follows.current = true
    if (isPart) want()
    else toEnd()
  }
  return { content, isFar: isFar || isPart, go }
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
