import { useEffect } from 'react'

const PLACES = 'a[href], button, input, textarea, select, summary, [tabindex]'
/** A dialog that closes, and a page that opens, have moved the focus themselves by then. */
const SETTLED_MS = 30

const isNowhere = () => document.activeElement === document.body

/** What it stands in, from the inside out, below the page itself. */
function aroundOf(element: Element): Element[] {
  const around: Element[] = []
  for (let at = element.parentElement; at && at.id !== 'root'; at = at.parentElement)
    around.push(at)
  return around
}

/**
 * Where what has the focus goes away, the focus goes on to what came after it, or else before it,
 * and not back to the top of the page.
 */
export function useFocusKept(): void {
  useEffect(() => {
    let last: HTMLElement | null = null
    let places: readonly HTMLElement[] = []
    let around: readonly Element[] = []
    const isLost = () => isNowhere() && last !== null && !last.checkVisibility()
    const goOn = () => {
      if (!last || !isLost()) return
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
      last = target as HTMLElement
      const all = [...document.querySelectorAll<HTMLElement>(PLACES)]
      // A message goes away by itself; only one that has the focus leads to the others.
      places = all.filter((place) => place === last || !place.closest('.toasts'))
      around = aroundOf(last)
    }
    // A person has left it; what is removed has gone by the end of the script that does it.
    const onBlur = () =>
      queueMicrotask(() => {
        if (isNowhere() && last?.checkVisibility()) last = null
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
