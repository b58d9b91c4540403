const CHARS_MAX = 16_000
/** What an uncaught error of ONNX Runtime ends with, and the log lines of sherpa-onnx. */
const SAID = [/^\s*what\(\):\s*(.+)$/m, /^\S*sherpa-onnx\/\S+:\d+ (.+)$/m]

/** What the library printed before it gave up: the only place where it says why. */
export function createComplaint() {
  let text = ''
  return {
    /** Resolves at the end of the stream; keeps the beginning of it, and reads on. */
    async read(stream: ReadableStream<Uint8Array>): Promise<void> {
      const decoder = new TextDecoder()
      for await (const chunk of stream) {
        if (text.length < CHARS_MAX) text += decoder.decode(chunk, { stream: true })
      }
    },
    /** One line for the operator; null when it said nothing that is known. */
    words(): string | null {
      const said = SAID.map((pattern) => pattern.exec(text)?.[1]?.trim()).find(Boolean)
      return said ?? null
    },
  }
}
