import { useEffect } from 'react'
import type { Turn } from './turn.ts'
import type { useStored } from './use-stored.ts'

/** Frames until the content above a turn has its final height. */
const SETTLING_FRAMES = 30

/** Brings the turn of this number into view, once it is loaded; loads older turns until then. */
export function useJump(
  seq: number | null,
  turns: readonly Turn[],
  older: ReturnType<typeof useStored>,
) {
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = older
  const isLoaded = turns.some((turn) => turn.seq === seq)
  useEffect(() => {
    if (seq === null || isLoaded || !hasNextPage || isFetchingNextPage) return
    void fetchNextPage()
  }, [seq, isLoaded, hasNextPage, isFetchingNextPage, fetchNextPage])
  useEffect(() => {
    if (seq === null || !isLoaded) return
    let frame = 0
    let left = SETTLING_FRAMES
    const show = () => {
      document.querySelector('.turn[data-found]')?.scrollIntoView({ block: 'start' })
      left -= 1
      if (left > 0) frame = requestAnimationFrame(show)
    }
    show()
    // Scrolling by the person cancels the jump.
    const stop = () => cancelAnimationFrame(frame)
    addEventListener('wheel', stop, { once: true, passive: true })
    addEventListener('touchmove', stop, { once: true, passive: true })
    return () => {
      stop()
      removeEventListener('wheel', stop)
      removeEventListener('touchmove', stop)
    }
  }, [seq, isLoaded])
}
