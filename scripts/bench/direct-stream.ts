interface DirectSource {
  readonly pull: (controller: ReadableStreamDirectController) => Promise<void>
  readonly cancel: () => void
}

/**
 * Bun's stream that writes directly to the socket. The cast is needed because the compiler resolves
 * `ReadableStream` to the browser's type, which lacks this kind.
 */
export function directStream(source: DirectSource): ReadableStream {
  const direct = { type: 'direct', ...source }
  return new ReadableStream(direct as unknown as UnderlyingDefaultSource)
}
