import { giveFeedback, type Reason } from '../api/visitor.ts'
import { words } from './words.ts'

export interface Rated {
  readonly session: string
  readonly seq: number
  readonly rating: number
}

const SVG = 'http://www.w3.org/2000/svg'
const HAND = 'M6 9l4-6.5c1.4 0 2.2 1 1.9 2.4L11 8h5c1 0 1.8 1 1.6 2l-1.2 5.5A2 2 0 0 1 14.5 17H6'
const THUMB = `M3 9h3v8H3z${HAND}`

/** A thumb up or down; drawn, because not every machine has a font with such signs. */
function drawThumb(value: 1 | -1): SVGElement {
  const picture = document.createElementNS(SVG, 'svg')
  picture.setAttribute('viewBox', '0 0 20 20')
  picture.setAttribute('aria-hidden', 'true')
  const path = document.createElementNS(SVG, 'path')
  path.setAttribute('d', THUMB)
  if (value < 0) path.setAttribute('transform', 'rotate(180 10 10)')
  picture.append(path)
  return picture
}

/** Two thumbs under an answer; after a thumb down, one reason to pick. */
export function createThumbs(
  { session, seq, rating }: Rated,
  say: (words: string) => void,
  onRated: (rating: number) => void,
): HTMLElement {
  const box = document.createElement('div')
  box.className = 'thumbs'
  let shown = rating
  const thumb = (value: 1 | -1, label: string) => {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'quiet'
    button.append(drawThumb(value))
    button.setAttribute('aria-label', label)
    button.addEventListener('click', () => void give(shown === value ? 0 : value, null))
    return button
  }
  const up = thumb(1, words.good)
  const down = thumb(-1, words.bad)
  const why = document.createElement('select')
  why.setAttribute('aria-label', words.why)
  why.append(new Option(words.why, ''))
  for (const [reason, label] of Object.entries(words.reasons)) why.append(new Option(label, reason))
  why.addEventListener('change', () => void give(-1, (why.value || null) as Reason | null))

  function show(value: number): void {
    shown = value
    up.setAttribute('aria-pressed', String(value === 1))
    down.setAttribute('aria-pressed', String(value === -1))
    why.hidden = value !== -1
  }

  async function give(value: number, reason: Reason | null): Promise<void> {
    const before = shown
    show(value)
    if (value !== -1) why.value = ''
    const isGiven = await giveFeedback({ session, seq, rating: value, reason })
    if (!isGiven) show(before)
    else onRated(value)
    say(isGiven ? (value === 0 ? '' : words.thanks) : words.failed)
  }

  box.append(up, down, why)
  show(rating)
  return box
}
