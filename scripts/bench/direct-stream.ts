interface DirectSource {
  readonly pull: (controller: ReadableStreamDirectController) => Promise<void>
  readonly cancel: () => void
}

/**
 * Bun's stream that writes straight to the socket. The cast is there because the compiler resolves
 * `ReadableStream` to the browser's type, which does not know it.
 */
export function directStream(source: DirectSource): ReadableStream {
  const direct = { type: 'direct', ...source }
  return new ReadableStream(direct as unknown as UnderlyingDefaultSource)
}
