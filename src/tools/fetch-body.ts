import { unpackedBody } from '../channels/egress/unpacked.ts'
import { ToolFailure } from './tool.ts'

export interface BodyStart {
  readonly bytes: Uint8Array
  /** The body was longer. */
  readonly cut: boolean
}

/** Reads the first `bytesMax` bytes of a body. */
export async function readBody(response: Response, bytesMax: number): Promise<BodyStart> {
  if (response.body === null) return { bytes: new Uint8Array(), cut: false }
  const body = unpackedBody(response)
  if (!body) throw new ToolFailure('the server sends the page in an unknown encoding')
  const reader = body.getReader()
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
