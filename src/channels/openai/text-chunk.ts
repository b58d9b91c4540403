/** Chunks in a row that are learnt in vain before the vendor counts as one that varies them. */
const VAIN_MAX = 8

/**
 * Reads text chunks without parsing them. Within one answer most chunks are the same JSON but for
 * the text, so a chunk that begins and ends as the last parsed one did, with nothing between that
 * JSON would have to escape, has exactly that structure and another text. It saves most of the time
 * that reading an answer costs.
 */
export class TextChunks {
  #head = ''
  #tail = ''
  #vain = 0

  /** The text of a chunk like the last one learnt; null: parse it. */
  read(payload: string): string | null {
    const head = this.#head
    const tail = this.#tail
    const end = payload.length - tail.length
    if (head === '' || end < head.length) return null
    if (!payload.startsWith(head) || !payload.endsWith(tail)) return null
    const text = payload.slice(head.length, end)
    if (!isPlain(text)) return null
    this.#vain = 0
    return text
  }

  /** Remembers a parsed chunk whose twins have nothing new to say but their text. */
  learn(payload: string, text: string): void {
    if (this.#vain >= VAIN_MAX || !isPlain(text)) return
    this.#vain++
    this.#head = ''
    const key = payload.indexOf('"content":')
    if (key < 0 || payload.lastIndexOf('"content":') !== key) return
    const start = payload.indexOf('"', key + '"content":'.length) + 1
    if (!payload.startsWith(`${text}"`, start)) return
    this.#head = payload.slice(0, start)
    this.#tail = payload.slice(start + text.length)
  }
}

/** Whether a JSON string literal holds this text as it is. */
function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0x20 || unit === 0x22 || unit === 0x5c) return false
  }
  return true
}
