import { useCallback, useEffect } from 'react'
import { loadChunk } from '../lib/lazy-chunks.ts'
import { useStable } from '../lib/use-stable.ts'

type Sheets = typeof import('./sheet.ts')

let loaded: Sheets | undefined

/** Does this with what lets a finger move the sheets, where a finger is the first pointer. */
function withFinger(act: (sheets: Sheets) => () => void): () => void {
  if (loaded) return act(loaded)
  let end: (() => void) | null = () => {}
  if (matchMedia('(pointer: coarse)').matches) {
    void loadChunk(() => import('./sheet.ts')).then((sheets) => {
      loaded = sheets
      if (end) end = act(sheets)
    })
  }
  return () => {
    end?.()
    end = null
  }
}

interface Moved {
  readonly isRight: boolean
  readonly onOpen: (() => void) | undefined
  readonly onClose: () => void
}

/** Lets a finger move a sheet: for the element that is it. */
export function useMoved({ isRight, onOpen, onClose }: Moved) {
  const open = useStable(() => onOpen?.())
  const close = useStable(onClose)
  const isPulled = onOpen !== undefined
  useEffect(
    () => (isPulled ? withFinger(({ pull }) => pull(isRight, open)) : undefined),
    [isPulled, isRight, open],
  )
  return useCallback(
    (sheet: HTMLElement | null) =>
      sheet ? withFinger(({ follow }) => follow(sheet, isRight, close)) : undefined,
    [isRight, close],
  )
}
