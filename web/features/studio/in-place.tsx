import { Component, createRef } from 'react'

interface InPlaceProps {
  /** The first of the turns that stand behind this. */
  readonly first: string | undefined
}

interface Place {
  readonly turn: HTMLElement
  readonly top: number
}

interface Before {
  readonly known: ReadonlySet<HTMLElement>
  /** Those that are seen, of which some may go. */
  readonly seen: readonly Place[]
}

const topOf = (element: Element) => element.getBoundingClientRect().top

const isSeen = (turn: Element) => {
  const { top, bottom } = turn.getBoundingClientRect()
  return bottom > 0 && top < innerHeight
}

/** Frames until what came has the height that it keeps. */
const SETTLING_FRAMES = 3

/**
 * Keeps the turns where they stand on the screen when others come or go before them. A class,
 * because only one is told what the page looks like right before it changes.
 */
export class InPlace extends Component<InPlaceProps> {
  readonly #mark = createRef<HTMLSpanElement>()

  #turns(): HTMLElement[] {
    return [...(this.#mark.current?.nextElementSibling?.children ?? [])] as HTMLElement[]
  }

  override componentDidMount() {
    drawn(this.#turns(), () => {})
  }

  override getSnapshotBeforeUpdate({ first }: InPlaceProps): Before | null {
    if (first === this.props.first) return null
    const turns = this.#turns()
    const seen = turns.filter(isSeen)
    return {
      known: new Set(turns),
      seen: (seen[0] ? seen : turns).map((turn) => ({ turn, top: topOf(turn) })),
    }
  }

  override componentDidUpdate(_props: InPlaceProps, _state: unknown, before: Before | null) {
    if (!before) return
    const turns = this.#turns()
    const place = before.seen.find(({ turn }) => turns.includes(turn))
    const list = place?.turn.parentElement
    // Others were loaded in place of all of them.
    if (!place || !list) return drawn(turns, () => {})
    const { turn, top } = place
    const height = () => topOf(turn) - topOf(list)
    let known = Number.NaN
    drawn(
      turns.slice(0, turns.indexOf(turn)).filter((one) => !before.known.has(one)),
      () => {
        // Whoever scrolls meanwhile goes on from there.
        scroll(Number.isNaN(known) ? topOf(turn) - top : height() - known)
        known = height()
      },
    )
  }

  override render() {
    return <span ref={this.#mark} hidden />
  }
}

/**
 * Draws turns for some frames, each of which calls `keep`. Out of view their heights would be
 * guessed; the browser remembers those that it has drawn.
 */
function drawn(turns: readonly HTMLElement[], keep: () => void) {
  const draw = (how: string) => {
    for (const { style } of turns) style.setProperty('content-visibility', how)
  }
  draw('visible')
  keep()
  let frames = SETTLING_FRAMES
  const settle = () => {
    keep()
    frames -= 1
    if (frames > 0) requestAnimationFrame(settle)
    else draw('')
  }
  requestAnimationFrame(settle)
}

function scroll(by: number) {
  document.documentElement.scrollTop += by
}
