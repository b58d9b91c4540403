import { useEffect, useState, useSyncExternalStore } from 'react'
import { keep, kept } from '../lib/kept.ts'
import { MENU_ASKED } from './keys.ts'

const KEPT = 'mb.sidebar'
const DESK = '(width >= 56rem)'

function subscribe(listener: () => void): () => void {
  const query = matchMedia(DESK)
  query.addEventListener('change', listener)
  return () => query.removeEventListener('change', listener)
}

export interface SideBar {
  /** Whether there is room for it beside the page; else it is a sheet over the page. */
  readonly isDesk: boolean
  readonly isOpen: boolean
  readonly open: () => void
  readonly close: () => void
  readonly toggle: () => void
}

/** Whether the side bar is seen. On a desk the browser remembers it; anybody may ask for it. */
export function useSideBar(): SideBar {
  const isDesk = useSyncExternalStore(subscribe, () => matchMedia(DESK).matches)
  const [isFolded, setFolded] = useState(() => kept(KEPT) === 'folded')
  const [isSheet, setSheet] = useState(false)
  useEffect(() => {
    const onAsked = () => {
      if (!isDesk) return setSheet((open) => !open)
      setFolded((folded) => {
        keep(KEPT, folded ? 'open' : 'folded')
        return !folded
      })
      // The button goes away with the bar, and the one for the way back is there instead.
      requestAnimationFrame(() => {
        const { activeElement: at, body } = document
        if (at === body) document.querySelector<HTMLElement>('[data-fold]')?.focus()
      })
    }
    const onKey = (event: KeyboardEvent) => {
      const isKey = event.key.toLowerCase() === 's' && event.shiftKey
      if (!isKey || !(event.ctrlKey || event.metaKey) || event.altKey) return
      event.preventDefault()
      onAsked()
    }
    addEventListener(MENU_ASKED, onAsked)
    addEventListener('keydown', onKey)
    return () => {
      removeEventListener(MENU_ASKED, onAsked)
      removeEventListener('keydown', onKey)
    }
  }, [isDesk])
  return {
    isDesk,
    isOpen: isDesk ? !isFolded : isSheet,
    open: () => setSheet(true),
    close: () => setSheet(false),
    toggle: () => void dispatchEvent(new Event(MENU_ASKED)),
  }
}
