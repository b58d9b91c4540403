/**
 * The header fields of a response (RFC 9110, section 5), found in its text when asked for. In place
 * of `Headers`, whose making takes longer than all else about a short request.
 */
export class Fields {
  readonly #text: string
  readonly #lower: string

  /** `lines`: each a valid field line with its end. */
  constructor(lines: string) {
    this.#text = `\n${lines}`
    this.#lower = this.#text.toLowerCase()
  }

  /** The value under a lower-case name, several of them with commas between; null without one. */
  get(name: string): string | null {
    const start = `\n${name}:`
    let value: string | null = null
    for (let at = this.#lower.indexOf(start); at >= 0; at = this.#lower.indexOf(start, at + 1)) {
      const from = at + start.length
      const one = this.#text.slice(from, this.#text.indexOf('\n', from)).trim()
      value = value === null ? one : `${value}, ${one}`
    }
    return value
  }
}
