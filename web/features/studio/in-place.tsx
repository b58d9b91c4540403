import { Component, createRef } from 'react'

interface InPlaceProps {
  /** The first of the turns that stand behind this. */
  readonly first: string | undefined
}

interface Place {
  readonly turn: Element
  readonly top: number
}

const topOf = (element: Element) => element.getBoundingClientRect().top

/** Frames until what came has the height that it keeps. */
const SETTLING_FRAMES = 3

/**
 * Keeps the turns where they stand on the screen when others come before them. A class, because
 * only one is told what the page looks like right before it changes.
 */
export class InPlace extends Component<InPlaceProps> {
  readonly #mark = createRef<HTMLSpanElement>()

  override getSnapshotBeforeUpdate({ first }: InPlaceProps): Place | null {
    const turn = this.#mark.current?.nextElementSibling?.firstElementChild
    return turn && first !== this.props.first ? { turn, top: topOf(turn) } : null
  }

  override componentDidUpdate(_props: InPlaceProps, _state: unknown, place: Place | null) {
    const list = place?.turn.parentElement
    if (!place || !list) return
    const { turn, top } = place
    const all = [...list.children] as HTMLElement[]
    const before = all.slice(0, all.indexOf(turn as HTMLElement))
    // Out of view their heights would be guessed; the browser remembers those that it has drawn.
    const draw = (how: string) => {
      for (const { style } of before) style.setProperty('content-visibility', how)
    }
    draw('visible')
    scroll(topOf(turn) - top)
    const height = () => topOf(turn) - topOf(list)
    let [known, frames] = [height(), SETTLING_FRAMES]
    const settle = () => {
      // Whoever scrolls meanwhile goes on from there.
      scroll(height() - known)
      known = height()
      frames -= 1
      if (frames > 0) requestAnimationFrame(settle)
      else draw('')
    }
    requestAnimationFrame(settle)
  }

  override render() {
    return <span ref={this.#mark} hidden />
  }
}

function scroll(by: number) {
  document.documentElement.scrollTop += by
}
