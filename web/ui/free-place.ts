/** Positions of short messages, in order of preference; the style sheet defines each. */
const PLACES = ['corner', 'above-bar', 'bottom', 'below-bar', 'top'] as const

const CONTROLS =
  'a[href], button, input, textarea, select, summary, [role="switch"], [tabindex="0"]'

/** Moves the messages to the first position where they cover no control, or the fewest. */
export function moveToFreePlace(region: HTMLElement): void {
  const controls = [...document.querySelectorAll(CONTROLS)]
    .filter((control) => !region.contains(control) && !control.closest('[inert]'))
    .map((control) => control.getBoundingClientRect())
    .filter(({ width, height }) => width > 0 && height > 0)
  const covered = PLACES.map((place) => {
    region.dataset.place = place
    const own = region.getBoundingClientRect()
    return controls.filter((other) => overlap(own, other)).length
  })
  region.dataset.place = PLACES[covered.indexOf(Math.min(...covered))]
}

const overlap = (a: DOMRect, b: DOMRect): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
