const CHARS_MAX = 16_000
/** The last line of an uncaught error of ONNX Runtime, and the log lines of sherpa-onnx. */
const CAUSES = [/^\s*what\(\):\s*(.+)$/m, /^\S*sherpa-onnx\/\S+:\d+ (.+)$/m]

/** Finds the cause in what a native library prints before it aborts its process. */
export function createStderrSummary() {
  let text = ''
  return {
    /** Reads to the end of the stream and keeps its beginning. */
    async read(stream: ReadableStream<Uint8Array>): Promise<void> {
      const decoder = new TextDecoder()
      for await (const chunk of stream) {
        if (text.length < CHARS_MAX) text += decoder.decode(chunk, { stream: true })
      }
    },
    /** One line for the operator; null when no known line was printed. */
    words(): string | null {
      const found = CAUSES.map((pattern) => pattern.exec(text)?.[1]?.trim()).find(Boolean)
      return found ?? null
    },
  }
}
