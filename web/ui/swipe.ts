/**
 * One finger that goes sideways. `touch-action` lets the browser tell it from one that scrolls,
 * whose pointer it cancels.
 */

/** What a finger moves. */
export interface Grip {
  /** Whether it can be moved this way; asked once, when the finger has left its place. */
  readonly goes: (across: number) => boolean
  readonly begin: () => void
  readonly move: (across: number) => void
  /** At a speed in px/ms to the right, or null where the move is taken back. */
  readonly end: (speed: number | null) => void
}

interface Spot {
  readonly x: number
  readonly y: number
  readonly at: number
}

interface Swipe {
  readonly pointer: number
  readonly grip: Grip
  readonly start: Spot
  readonly pageWidth: number
  readonly isMoving: boolean
  /** The last places of the finger, newest last. */
  readonly spots: readonly Spot[]
}

const SLOP_PX = 8
/** A finger that has rested this long selects text, or opens a menu. */
const PRESS_MS = 350
const RECENT_MS = 60

let swipe: Swipe | null = null
const free = new Set<HTMLElement>()

/** A page that is zoomed in is itself moved sideways. */
const isZoomed = () => (visualViewport?.scale ?? 1) > 1.01

function divide(element: HTMLElement) {
  element.style.touchAction = free.has(element) && !isZoomed() ? 'pan-y pinch-zoom' : ''
}

const isFree = (element: Element) => element instanceof HTMLElement && free.has(element)

/** Leaves fingers that go sideways on this element to us. */
export function freeSideways(element: HTMLElement, isOurs: boolean): void {
  if (isOurs) free.add(element)
  else free.delete(element)
  divide(element)
}

/** Whether what is under the finger takes a sideways move itself. */
function takesItself(target: Element): boolean {
  if (target.closest('input, textarea, select, audio, video, [role=slider]')) return true
  for (let at: Element | null = target; at && !isFree(at); at = at.parentElement) {
    const scrolls = /auto|scroll/.test(getComputedStyle(at).overflowX)
    if (scrolls && at.scrollWidth > at.clientWidth) return true
  }
  return false
}

const spotOf = ({ clientX: x, clientY: y, timeStamp: at }: PointerEvent): Spot => ({ x, y, at })

/** Lets fingers move what this finds under them. */
export function onSwipe(gripOf: (target: Element, x: number) => Grip | null): void {
  const onDown = (event: PointerEvent) => {
    const { target, pointerType, pointerId: pointer, isPrimary, clientX } = event
    if (pointerType !== 'touch') return
    // A second finger, or one whose end was never told.
    if (swipe) return finish(null)
    if (!isPrimary || !(target instanceof Element) || isZoomed() || takesItself(target)) return
    const grip = gripOf(target, clientX)
    const start = spotOf(event)
    const begun = { pointer, start, pageWidth: innerWidth, isMoving: false, spots: [start] }
    if (grip) swipe = { ...begun, grip }
  }
  addEventListener('pointerdown', onDown, true)
  addEventListener('pointermove', onMove, true)
  addEventListener('pointerup', onUp, true)
  addEventListener('pointercancel', onUp, true)
  addEventListener('resize', () => swipe && innerWidth !== swipe.pageWidth && finish(null))
  visualViewport?.addEventListener('resize', () => {
    for (const element of free) divide(element)
  })
}

function onMove(event: PointerEvent) {
  if (event.pointerId !== swipe?.pointer) return
  const spot = spotOf(event)
  const { start, grip, spots, isMoving } = swipe
  const across = spot.x - start.x
  if (!isMoving) {
    const down = Math.abs(spot.y - start.y)
    if (Math.hypot(across, down) < SLOP_PX) return
    const isLate = spot.at - start.at > PRESS_MS
    if (down > Math.abs(across) || isLate || !grip.goes(across)) return drop(grip)
    // What it came down on may go away, as the page does behind a sheet.
    document.documentElement.setPointerCapture(event.pointerId)
    grip.begin()
  }
  const recent = spots.filter(({ at }) => at > spot.at - RECENT_MS)
  swipe = { ...swipe, isMoving: true, spots: [...recent, spot] }
  grip.move(across)
}

function onUp(event: PointerEvent) {
  if (event.pointerId !== swipe?.pointer) return
  if (event.type === 'pointercancel') return finish(null)
  const recent = swipe.spots.filter(({ at }) => at > event.timeStamp - RECENT_MS)
  const [from, to] = [recent[0], recent.at(-1)]
  finish(from && to && to.at > from.at ? (to.x - from.x) / (to.at - from.at) : 0)
}

function finish(speed: number | null) {
  const ended = swipe
  swipe = null
  if (ended?.isMoving) ended.grip.end(speed)
}

/** Ends the move of something that is gone. */
export function drop(grip: Grip): void {
  if (swipe?.grip === grip) swipe = null
}
