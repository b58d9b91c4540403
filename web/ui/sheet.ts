import { drop, freeSideways, type Grip, onSwipe } from './swipe.ts'

/** The sheets at both sides of a phone, which follow the finger. */

interface Sheet {
  readonly element: HTMLElement
  readonly backdrop: HTMLElement
  readonly isRight: boolean
  readonly close: () => void
  grip: Grip | null
}

/** Where a pull begins, from the edge. What is nearer to it is left to the system's own gesture. */
const PULL_FROM_PX = 24
const PULL_TO_PX = 80
const FLICK_PX_MS = 0.4
const SETTLE_MS = 180

const sheets: Sheet[] = []
const pulls = new Map<boolean, () => void>()
/** What a sheet does as soon as it stands on the page: it is where the finger already is. */
let pulled: { readonly isRight: boolean; readonly take: (sheet: Sheet) => void } | null = null
let settling: { readonly sheet: Sheet; readonly end: () => void } | null = null

/** Lets a finger move this open sheet, until the function that it returns is called. */
export function follow(element: HTMLElement, isRight: boolean, close: () => void): () => void {
  const backdrop = element.previousElementSibling as HTMLElement
  const sheet: Sheet = { element, backdrop, isRight, close, grip: null }
  sheets.push(sheet)
  for (const one of [element, backdrop]) freeSideways(one, true)
  // The page behind takes no pointer; a finger on the backdrop moves the sheet.
  backdrop.style.pointerEvents = 'auto'
  if (pulled?.isRight === isRight) pulled.take(sheet)
  return () => {
    sheets.splice(sheets.indexOf(sheet), 1)
    for (const one of [element, backdrop]) freeSideways(one, false)
    if (sheet.grip) {
      drop(sheet.grip)
      pulled = null
    }
    if (settling?.sheet === sheet) settling = null
  }
}

/** Lets a finger that comes from near this edge open its sheet. */
export function pull(isRight: boolean, open: () => void): () => void {
  const main = document.getElementById('main')
  pulls.set(isRight, open)
  if (main) freeSideways(main, true)
  return () => {
    pulls.delete(isRight)
    if (main && pulls.size === 0) freeSideways(main, false)
  }
}

onSwipe((target, x) => {
  settling?.end()
  pulled = null
  const sheet = sheets.at(-1)
  if (sheet) {
    const isOn = sheet.element.contains(target) || sheet.backdrop === target
    return isOn ? gripOf(sheet) : null
  }
  const isRight = x > innerWidth / 2
  const inset = isRight ? innerWidth - x : x
  const isNear = inset >= PULL_FROM_PX && inset < PULL_TO_PX
  const isFree = target.closest('#main') && getSelection()?.isCollapsed !== false
  const open = pulls.get(isRight)
  return isNear && isFree && open ? gripOfPull(isRight, open) : null
})

function gripOf(sheet: Sheet): Grip {
  const { element, isRight } = sheet
  const width = element.offsetWidth
  let shown = width
  const grip: Grip = {
    goes: () => true,
    begin() {
      sheet.grip = grip
    },
    move(across) {
      shown = within(width + (isRight ? -across : across), width)
      place(sheet, shown)
    },
    end: (speed) => settle(sheet, speed === null || staysOpen(sheet, shown, speed)),
  }
  return grip
}

/** The same for a sheet that has yet to come. */
function gripOfPull(isRight: boolean, open: () => void): Grip {
  let inwards = 0
  let sheet: Sheet | null = null
  let ended: { readonly speed: number | null } | null = null
  const draw = () => {
    if (!sheet) return
    const shown = within(inwards, sheet.element.offsetWidth)
    place(sheet, shown)
    if (!ended) return
    pulled = null
    settle(sheet, ended.speed !== null && staysOpen(sheet, shown, ended.speed))
  }
  const grip: Grip = {
    goes: (across) => (isRight ? across < 0 : across > 0),
    begin() {
      const take = (come: Sheet) => {
        come.grip = grip
        sheet = come
        draw()
      }
      pulled = { isRight, take }
      open()
    },
    move(across) {
      inwards = isRight ? -across : across
      draw()
    },
    end(speed) {
      ended = { speed }
      draw()
    },
  }
  return grip
}

const within = (shown: number, width: number) => Math.min(width, Math.max(0, shown))

function staysOpen({ element, isRight }: Sheet, shown: number, speed: number): boolean {
  const inwards = isRight ? -speed : speed
  if (Math.abs(inwards) > FLICK_PX_MS) return inwards > 0
  return shown > element.offsetWidth / 2
}

function place({ element, backdrop, isRight }: Sheet, shown: number) {
  const hidden = element.offsetWidth - shown
  // As it stood when it opened, it opens no second time.
  element.style.animation = backdrop.style.animation = 'none'
  element.style.transform = `translateX(${isRight ? hidden : -hidden}px)`
  backdrop.style.opacity = String(shown / element.offsetWidth)
}

/** Lets the sheet glide to where it stays, and closes it when that is outside. */
function settle(sheet: Sheet, isOpen: boolean) {
  const { element, backdrop } = sheet
  sheet.grip = null
  const [transform, opacity] = [element.style.transform, backdrop.style.opacity]
  place(sheet, isOpen ? element.offsetWidth : 0)
  const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches
  const glide = { duration: SETTLE_MS, easing: 'ease-out' }
  const glides = isStill
    ? []
    : [
        element.animate({ transform: [transform, element.style.transform] }, glide),
        backdrop.animate({ opacity: [opacity, backdrop.style.opacity] }, glide),
      ]
  const end = () => {
    if (settling?.end !== end) return
    settling = null
    for (const one of glides) one.cancel()
    if (!isOpen) return sheet.close()
    element.style.transform = backdrop.style.opacity = ''
  }
  settling = { sheet, end }
  if (isStill) end()
  else for (const one of glides) one.onfinish = end
}
