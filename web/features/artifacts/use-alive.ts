import { type RefObject, useContext, useEffect, useRef, useState } from 'react'
import { Alive, type Held } from './alive.ts'
import type { ArtifactKind } from './kinds.ts'

const NEAR = '200px'

/**
 * Whether a frame lives: it wakes when it is wanted, by itself (`wakes`) as it comes into view, and
 * falls asleep when too many others live.
 */
export function useAlive(place: RefObject<HTMLElement | null>, kind: ArtifactKind, wakes: boolean) {
  const alive = useContext(Alive)
  const [isAwake, setAwake] = useState(false)
  const isInView = useRef(false)
  const held = useRef<Held>({ sleep: () => setAwake(false), isInView: () => isInView.current })
  const wake = useRef(() => {
    setAwake(true)
    // A picture is no frame.
    if (kind !== 'svg') alive.wake(held.current)
  })
  const sleep = useRef(() => {
    setAwake(false)
    alive.drop(held.current)
  })
  useEffect(() => {
    const mine = held.current
    return () => alive.drop(mine)
  }, [alive])
  useEffect(() => {
    const element = place.current
    if (!element) return
    const observer = new IntersectionObserver(
      ([entry]) => {
        isInView.current = entry?.isIntersecting ?? false
        if (isInView.current && wakes) wake.current()
      },
      { rootMargin: NEAR },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [place, wakes])
  return { isAwake, wake: wake.current, sleep: sleep.current }
}
