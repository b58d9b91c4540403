/**
 * Bytes by the megabyte, handled in steps. To copy 40 MB in one piece holds the event loop for
 * 30 ms, most of it for the system to hand out the memory; 2 MB take 2 ms.
 */
const STEP_BYTES = 2 * 1024 * 1024

/** Up to this size bytes are handled in one piece. */
export const SMALL_BYTES = 256 * 1024

const otherEvents = () => new Promise<void>((resolve) => setImmediate(resolve))

/** `Buffer.concat` that lets other events pass. */
export async function joinBytes(chunks: readonly Uint8Array[]): Promise<Uint8Array<ArrayBuffer>> {
  const size = totalBytes(chunks)
  if (size <= SMALL_BYTES) return Buffer.concat(chunks)
  // Not filled with zeros, which would touch all of the memory at once.
  const joined: Uint8Array<ArrayBuffer> = Buffer.allocUnsafeSlow(size)
  let at = 0
  let stepEnd = STEP_BYTES
  for (const chunk of chunks) {
    for (let from = 0; from < chunk.length; from += STEP_BYTES) {
      const part = chunk.subarray(from, from + STEP_BYTES)
      joined.set(part, at)
      at += part.length
      if (at < stepEnd) continue
      stepEnd = at + STEP_BYTES
      await otherEvents()
    }
  }
  return joined
}

export const totalBytes = (chunks: readonly Uint8Array[]): number =>
  chunks.reduce((sum, { length }) => sum + length, 0)

/**
 * A body that reads from `source` as the client reads: a slow client slows the source down, and a
 * disconnect ends it. The source reports its failures itself. For the client the body just ends
 * then, because an error here would reset the connection.
 */
export function pulledStream(
  chunks: AsyncGenerator<Uint8Array>,
  onLeave: () => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await chunks.next().catch(() => null)
      if (next === null || next.done) controller.close()
      else controller.enqueue(next.value)
    },
    cancel: onLeave,
  })
}

/** The body of a message: each piece is made and copied when the other side takes more. */
export function streamOf(pieces: Iterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.iterator]()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      await otherEvents()
      const next = iterator.next()
      if (next.done) controller.close()
      else controller.enqueue(next.value)
    },
  })
}

const PIECE_CHARS = 64 * 1024

/** The JSON of `value` in pieces, with other events between them. */
export async function jsonPieces(value: unknown): Promise<Uint8Array[]> {
  const encoder = new TextEncoder()
  const pieces: Uint8Array[] = []
  let text = ''
  let stepEnd = STEP_BYTES
  let bytes = 0
  for (const part of jsonText(value)) {
    text += part
    if (text.length < PIECE_CHARS) continue
    const piece = encoder.encode(text)
    text = ''
    pieces.push(piece)
    bytes += piece.length
    if (bytes < stepEnd) continue
    stepEnd = bytes + STEP_BYTES
    await otherEvents()
  }
  pieces.push(encoder.encode(text))
  return pieces
}

/** As `JSON.stringify` writes plain data, long strings in parts. */
function* jsonText(value: unknown): Generator<string> {
  if (typeof value === 'string' && value.length > PIECE_CHARS) yield* longString(value)
  else if (Array.isArray(value))
    yield* list(
      '[',
      value.map((item) => ['', item] as const),
      ']',
    )
  else if (typeof value === 'object' && value !== null) {
    const present = Object.entries(value).filter(([, item]) => item !== undefined)
    yield* list(
      '{',
      present.map(([name, item]) => [`${JSON.stringify(name)}:`, item] as const),
      '}',
    )
  } else yield JSON.stringify(value) ?? 'null'
}

function* list(open: string, items: readonly (readonly [string, unknown])[], close: string) {
  let before = open
  for (const [name, item] of items) {
    yield before + name
    yield* jsonText(item)
    before = ','
  }
  yield items.length === 0 ? open + close : close
}

/** A surrogate pair that a cut divides is written as two escapes, which mean the same. */
function* longString(text: string): Generator<string> {
  yield '"'
  for (let at = 0; at < text.length; at += PIECE_CHARS) {
    yield JSON.stringify(text.slice(at, at + PIECE_CHARS)).slice(1, -1)
  }
  yield '"'
}
