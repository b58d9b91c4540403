/** Positions of short messages, in order of preference; the style sheet defines each. */
const PLACES = ['corner', 'above-bar', 'bottom', 'below-bar', 'top'] as const

const CONTROLS =
  'a[href], button, input, textarea, select, summary, [role="switch"], [tabindex="0"]'

/** What a person uses next: a message covers many other controls before one of these. */
const FORM = 'form button[type="submit"], form textarea, form input'
const FORM_WEIGHT = 20

const weightOf = (control: Element): number => (control.matches(FORM) ? FORM_WEIGHT : 1)

/** Moves the messages to the first position where they cover no control, or those of least use. */
function moveToFreePlace(region: HTMLElement): void {
  const controls = [...document.querySelectorAll(CONTROLS)]
    .filter((control) => !region.contains(control) && !control.closest('[inert]'))
    .map((control) => ({ box: control.getBoundingClientRect(), weight: weightOf(control) }))
    .filter(({ box: { width, height } }) => width > 0 && height > 0)
  const covered = PLACES.map((place) => {
    region.dataset.place = place
    const own = region.getBoundingClientRect()
    return controls.reduce((sum, { box, weight }) => sum + (overlap(own, box) ? weight : 0), 0)
  })
  region.dataset.place = PLACES[covered.indexOf(Math.min(...covered))]
}

const overlap = (a: DOMRect, b: DOMRect): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom

/** Keeps the messages off the controls while the page below them changes. Returns the end of it. */
export function keepFree(region: HTMLElement): () => void {
  let frame = 0
  const look = () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0
      moveToFreePlace(region)
    })
  }
  moveToFreePlace(region)
  const changes = new MutationObserver(look)
  changes.observe(document.body, { childList: true, subtree: true })
  const sizes = new ResizeObserver(look)
  for (const control of document.querySelectorAll('form, main')) sizes.observe(control)
  addEventListener('resize', look)
  addEventListener('scroll', look, { passive: true })
  return () => {
    cancelAnimationFrame(frame)
    changes.disconnect()
    sizes.disconnect()
    removeEventListener('resize', look)
    removeEventListener('scroll', look)
  }
}
