const OPEN = '<think>'
const CLOSE = '</think>'

/**
 * Some servers leave a model's reasoning in the content as one `<think>` block before the answer.
 * The block is taken out only when it opens the content and is closed; a block that never closes
 * comes back as it was at the end, and one further on is content.
 */
export function createThinkFilter() {
  let state: 'start' | 'inside' | 'gap' | 'pass' = 'start'
  let held: string[] = []
  /** What is held, without the blank space before it. */
  let lead = ''
  let tail = ''

  function start(text: string): string {
    held.push(text)
    lead = (lead + text).trimStart()
    if (lead.startsWith(OPEN)) {
      state = 'inside'
      return inside(lead.slice(OPEN.length))
    }
    if (OPEN.startsWith(lead)) return ''
    state = 'pass'
    return held.join('')
  }

  function inside(text: string): string {
    const seen = tail + text
    const at = seen.indexOf(CLOSE)
    if (at < 0) {
      tail = seen.slice(-(CLOSE.length - 1))
      return ''
    }
    held = []
    state = 'gap'
    return gap(seen.slice(at + CLOSE.length))
  }

  function gap(text: string): string {
    const answer = text.trimStart()
    if (answer !== '') state = 'pass'
    return answer
  }

  return {
    /** The part of the content so far that may go out now. */
    push(text: string): string {
      switch (state) {
        case 'pass':
          return text
        case 'start':
          return start(text)
        case 'inside':
          held.push(text)
          return inside(text)
        case 'gap':
          return gap(text)
      }
    },
    /** What is still held back when the content ends. */
    end(): string {
      return state === 'start' || state === 'inside' ? held.join('') : ''
    },
  }
}
