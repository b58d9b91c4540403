import { useEffect } from 'react'

const PLACES = 'a[href], button, input, textarea, select, summary, [tabindex]'
/** A dialog that closes, and a page that opens, have moved the focus themselves by then. */
const SETTLED_MS = 30

const isNowhere = () => document.activeElement === document.body

/** What it stands in, from the inside out, below the page itself. */
function aroundOf(element: Element): Element[] {
  const around: Element[] = []
  const isPage = (at: Element) => at.id === 'root' || at === document.body
  for (let at = element.parentElement; at && !isPage(at); at = at.parentElement) around.push(at)
  return around
}

/** What has the focus, and where it may go on from there. */
interface Focus {
  readonly last: HTMLElement
  readonly places: readonly HTMLElement[]
  readonly around: readonly Element[]
}

function focusAt(last: HTMLElement): Focus {
  const all = [...document.querySelectorAll<HTMLElement>(PLACES)]
  // A message goes away by itself; only one that has the focus leads to the others.
  const places = all.filter((place) => place === last || !place.closest('.toasts'))
  return { last, places, around: aroundOf(last) }
}

const isInDialog = ({ last }: Focus) => last.closest('[role=dialog], [role=alertdialog]') !== null

/**
 * Where what has the focus goes away, the focus goes on to what came after it, or else before it,
 * and not back to the top of the page.
 */
export function useFocusKept(): void {
  useEffect(() => {
    let here: Focus | null = null
    /** Where the dialog that has the focus was opened; what led to it may be gone with it. */
    let behind: Focus | null = null
    const isLost = () => isNowhere() && here !== null && !here.last.checkVisibility()
    const goOn = () => {
      if (!here || !isLost()) return
      const isGone = here.around.every((element) => !element.isConnected)
      const { last, places, around } = isGone && behind ? behind : here
      const at = places.indexOf(last)
      // A text field would bring up the keyboard of a phone.
      const isTouch = !matchMedia('(hover: hover)').matches
      // Where all that came after has gone, too, what has come in its place is nearest.
      const home = around.find((element) => element.isConnected)
      const near = home?.querySelectorAll<HTMLElement>(PLACES) ?? []
      const order = [
        ...places.slice(at + 1),
        ...[...near].reverse(),
        ...places.slice(0, at).reverse(),
      ]
      order.find((place) => {
        if (!isTouch || !place.matches('input, textarea')) place.focus({ preventScroll: true })
        return place === document.activeElement
      })
    }
    const onFocus = ({ target }: FocusEvent) => {
      const before = here
      here = focusAt(target as HTMLElement)
      if (!isInDialog(here)) behind = null
      else if (before && !isInDialog(before)) behind = before
    }
    // A person has left it; what is removed has gone by the end of the script that does it.
    const onBlur = () =>
      queueMicrotask(() => {
        if (isNowhere() && here?.last.checkVisibility()) here = null
      })
    const changes = new MutationObserver(() => isLost() && setTimeout(goOn, SETTLED_MS))
    changes.observe(document.body, { childList: true, subtree: true })
    addEventListener('focusin', onFocus)
    addEventListener('focusout', onBlur)
    return () => {
      changes.disconnect()
      removeEventListener('focusin', onFocus)
      removeEventListener('focusout', onBlur)
    }
  }, [])
}
