import { TextInPieces } from '../../core/text.ts'

const OPEN = '<think>'
const CLOSE = '</think>'

/**
 * Takes out the `<think>` block that some servers leave at the start of the content. A block that
 * never closes is given back at the end, and one that starts later is content.
 */
export class ThinkFilter {
  #state: 'start' | 'inside' | 'gap' | 'pass' = 'start'
  #held = new TextInPieces()
  /** At the start: what is held, trimmed. Inside the block: its last characters. */
  #seen = ''

  /** The content that may go out now. */
  push(text: string): string {
    switch (this.#state) {
      case 'pass':
        return text
      case 'start':
        this.#held.add(text)
        return this.#start(text)
      case 'inside':
        this.#held.add(text)
        return this.#inside(text)
      case 'gap':
        return this.#gap(text)
    }
  }

  get heldChars(): number {
    return this.#held.length
  }

  /** What is still held back when the content ends. */
  end(): string {
    return this.#held.toString()
  }

  #start(text: string): string {
    const lead = (this.#seen + text).trimStart()
    if (lead.startsWith(OPEN)) {
      this.#state = 'inside'
      this.#seen = ''
      return this.#inside(lead.slice(OPEN.length))
    }
    this.#seen = lead
    if (OPEN.startsWith(lead)) return ''
    const answer = this.#held.toString()
    this.#leave('pass')
    return answer
  }

  #inside(text: string): string {
    const seen = this.#seen + text
    const at = seen.indexOf(CLOSE)
    if (at < 0) {
      this.#seen = seen.slice(-(CLOSE.length - 1))
      return ''
    }
    this.#leave('gap')
    return this.#gap(seen.slice(at + CLOSE.length))
  }

  #gap(text: string): string {
    const answer = text.trimStart()
    if (answer !== '') this.#state = 'pass'
    return answer
  }

  #leave(state: 'gap' | 'pass'): void {
    this.#state = state
    this.#held = new TextInPieces()
    this.#seen = ''
  }
}
