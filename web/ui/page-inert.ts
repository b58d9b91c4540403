import { useEffect } from 'react'

/** Marks the element that had the focus before a dialog opened. */
const LEFT = 'data-left'

/** What was used last: a click gives the focus to no button in Safari. */
let used: Element | null = null
const note = ({ target, detail }: UIEvent) => {
  // Enter in a field clicks the button of its form, too, by no pointer.
  if (detail > 0) used = (target as Element).closest('a, button, summary, [tabindex]')
}
addEventListener('click', note, true)
addEventListener('focusin', ({ target }) => {
  used = target as Element
})

/**
 * Makes the page inert while a dialog is open, and restores the focus when it closes. Counts open
 * dialogs, because one may open before another has closed.
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
  if (before === 0) holderOf(used)?.setAttribute(LEFT, '')
  root.inert = now > 0
  document.documentElement.toggleAttribute('data-dialog', now > 0)
  if (now === 0) comeBack(root)
}

/** The button of a menu stands for its entries, which go away with it. */
function holderOf(element: Element | null): Element | null {
  const menu = element?.closest('[role=menu]')
  return menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : element
}

function comeBack(root: HTMLElement): void {
  const place = root.querySelector<HTMLElement>(`[${LEFT}]`)
  for (const marked of document.querySelectorAll(`[${LEFT}]`)) marked.removeAttribute(LEFT)
  place?.focus({ preventScroll: true })
}

/** Toasts lie above a dialog; a click on one does not close the dialog. */
export const isMessage = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('.toast, .toasts') !== null
