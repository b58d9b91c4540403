/** Positions of short messages, in order of preference; the style sheet defines each. */
const PLACES = ['corner', 'above-bar', 'bottom', 'below-bar', 'top'] as const

const CONTROLS =
  'a[href], button, input, textarea, select, summary, .composer, [role="switch"], [tabindex="0"]'

/** What a person uses next: a message covers many other controls before one of these. */
const FORM = 'form button[type="submit"], form textarea, form input, .composer, .to-end'
const FORM_WEIGHT = 20

const weightOf = (control: Element): number => (control.matches(FORM) ? FORM_WEIGHT : 1)

/**
 * Moves the messages to the first position where they cover no control, or those of least use.
 * Returns the weight of what they cover.
 */
function moveToFreePlace(region: HTMLElement): number {
  const controls = [...document.querySelectorAll(CONTROLS)]
    .filter((control) => !region.contains(control) && !control.closest('[inert]'))
    .map((control) => ({ box: control.getBoundingClientRect(), weight: weightOf(control) }))
    .filter(({ box: { width, height } }) => width > 0 && height > 0)
  const covered = PLACES.map((place) => {
    region.dataset.place = place
    const own = region.getBoundingClientRect()
    return controls.reduce((sum, { box, weight }) => sum + (overlap(own, box) ? weight : 0), 0)
  })
  const least = Math.min(...covered)
  region.dataset.place = PLACES[covered.indexOf(least)]
  return least
}

const overlap = (a: DOMRect, b: DOMRect): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom

/** The room that a dialog, or else a page with a composer, keeps for messages. */
const findRoom = () => document.querySelector<HTMLElement>('.message-room:not([inert] *)')

const moveOver = (region: HTMLElement, room: HTMLElement) =>
  region.style.setProperty('--top', `${room.getBoundingClientRect().top}px`)

/**
 * Makes the room as high as the messages, and lays them over it. They stay where they are in the
 * document: moved, they would lose the focus and be read out again. False where the room is out of
 * view, in a low window.
 */
function moveToRoom(region: HTMLElement, room: HTMLElement): boolean {
  region.dataset.place = 'room'
  const { left, width } = room.getBoundingClientRect()
  region.style.setProperty('--left', `${left}px`)
  region.style.setProperty('--width', `${width}px`)
  room.style.height = `${region.offsetHeight}px`
  moveOver(region, room)
  const { top, bottom } = room.getBoundingClientRect()
  return top >= 0 && bottom <= document.documentElement.clientHeight
}

/** Keeps the messages off the controls while the page below them changes. Returns the end of it. */
export function keepFree(region: HTMLElement): () => void {
  let frame = 0
  let seen: HTMLElement | null = null
  const move = () => {
    const room = findRoom()
    if (room?.parentElement && room !== seen) sizes.observe(room.parentElement)
    seen = room
    if (room && moveToRoom(region, room)) return
    // Rather out of view in a low window than over the composer.
    if (moveToFreePlace(region) >= FORM_WEIGHT && room) moveToRoom(region, room)
  }
  const look = () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0
      move()
    })
  }
  const sizes = new ResizeObserver(() => {
    // At once: a composer that grows would touch them for a frame.
    if (seen) moveOver(region, seen)
    look()
  })
  move()
  // The newest, where there is no room for all.
  region.scrollTop = region.scrollHeight
  const changes = new MutationObserver(look)
  changes.observe(document.body, { childList: true, subtree: true })
  for (const control of document.querySelectorAll('form, main')) sizes.observe(control)
  addEventListener('resize', look)
  // A dialog scrolls by itself.
  addEventListener('scroll', look, { passive: true, capture: true })
  return () => {
    cancelAnimationFrame(frame)
    changes.disconnect()
    sizes.disconnect()
    removeEventListener('resize', look)
    removeEventListener('scroll', look, { capture: true })
  }
}

/** Gives back the room of the messages once there are none. */
export function leaveRoom(): void {
  findRoom()?.style.removeProperty('height')
}
