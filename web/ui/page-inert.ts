import { useEffect } from 'react'

/** Marks what had the focus when the page was left for a dialog. */
const LEFT = 'data-left'

/**
 * While a dialog is open the page behind it cannot be reached by any means; when it is closed the
 * focus goes back to where it was. Dialogs may follow one another closely, so they are counted.
 */
export function usePageInert(open: boolean): void {
  useEffect(() => {
    const root = document.getElementById('root')
    if (!open || !root) return undefined
    count(root, 1)
    return () => count(root, -1)
  }, [open])
}

function count(root: HTMLElement, by: number): void {
  const before = Number(root.dataset.dialogs ?? 0)
  const now = before + by
  root.dataset.dialogs = String(now)
  if (before === 0) document.activeElement?.setAttribute(LEFT, '')
  root.inert = now > 0
  if (now === 0) comeBack(root)
}

function comeBack(root: HTMLElement): void {
  const place = root.querySelector<HTMLElement>(`[${LEFT}]`)
  for (const marked of document.querySelectorAll(`[${LEFT}]`)) marked.removeAttribute(LEFT)
  place?.focus({ preventScroll: true })
}

/** Messages lie above a dialog; answering one is no click beside it. */
export const isMessage = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('.toasts') !== null
