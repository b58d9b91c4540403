import { ToolFailure } from './tool.ts'

export interface BodyStart {
  readonly bytes: Uint8Array
  /** The body was longer. */
  readonly cut: boolean
}

const SLICE_BYTES = 512

/**
 * Reads the first `bytesMax` bytes of a body. Some servers compress although the request declines
 * it; their bytes are decompressed in small slices, because a large piece could expand a
 * thousandfold before the limit is checked.
 */
export async function readBody(response: Response, bytesMax: number): Promise<BodyStart> {
  if (response.body === null) return { bytes: new Uint8Array(), cut: false }
  const reader = unpacked(response.body, response.headers.get('content-encoding')).getReader()
  const pieces: Uint8Array[] = []
  let size = 0
  while (size <= bytesMax) {
    const { done, value } = await reader.read()
    if (done) break
    pieces.push(value)
    size += value.length
  }
  await reader.cancel()
  return { bytes: Buffer.concat(pieces).subarray(0, bytesMax), cut: size > bytesMax }
}

type Bytes = ReadableStream<Uint8Array<ArrayBuffer>>

function unpacked(body: Bytes, encoding: string | null): Bytes {
  const name = encoding?.trim().toLowerCase() ?? ''
  if (name === '' || name === 'identity') return body
  const format = name === 'x-gzip' ? 'gzip' : name
  if (format !== 'gzip' && format !== 'deflate') {
    throw new ToolFailure('the server sends the page in an unknown encoding')
  }
  return body.pipeThrough(sliced()).pipeThrough(new DecompressionStream(format))
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
