type Bytes = ReadableStream<Uint8Array<ArrayBuffer>>

const SLICE_BYTES = 512

/**
 * The body of an answer without its `Content-Encoding`; null for one that is unknown. Some servers
 * compress although the request declines it. It is unpacked in small slices, because a large piece
 * could expand a thousandfold before its reader checks a limit.
 */
export function unpackedBody({ body, headers }: Response): Bytes | null {
  const name = headers.get('content-encoding')?.trim().toLowerCase() ?? ''
  const bytes: Bytes = body ?? new Blob().stream()
  if (name === '' || name === 'identity') return bytes
  const format = name === 'x-gzip' ? 'gzip' : name
  if (format !== 'gzip' && format !== 'deflate') return null
  return bytes.pipeThrough(sliced()).pipeThrough(new DecompressionStream(format))
}

function sliced() {
  return new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
        controller.enqueue(chunk.subarray(at, at + SLICE_BYTES))
      }
    },
  })
}
