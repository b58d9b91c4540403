import { useCallback, useLayoutEffect, useRef } from 'react'

/**
 * The same function at each render, which calls the one of the last: what gets it is not drawn
 * anew. It is for events; while a render is made it still calls the one before.
 */
export function useStable<A extends readonly unknown[], R>(latest: (...args: A) => R) {
  const held = useRef(latest)
  useLayoutEffect(() => {
    held.current = latest
  })
  return useCallback((...args: A): R => held.current(...args), [])
}
