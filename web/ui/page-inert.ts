import { useEffect } from 'react'

/**
 * While a dialog is open the page behind it cannot be reached by any means. Dialogs may follow one
 * another closely, so they are counted.
 */
export function usePageInert(open: boolean): void {
  useEffect(() => {
    const root = document.getElementById('root')
    if (!open || !root) return undefined
    const count = (by: number) => {
      const now = Number(root.dataset.dialogs ?? 0) + by
      root.dataset.dialogs = String(now)
      root.inert = now > 0
    }
    count(1)
    return () => count(-1)
  }, [open])
}

/** Messages lie above a dialog; answering one is no click beside it. */
export const isMessage = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('.toasts') !== null
