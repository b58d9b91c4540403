const HEAD_END = Buffer.from('\r\n\r\n')

export interface ResponseReader {
  /** Takes the next bytes of a connection; true once the response is complete. */
  feed(bytes: Buffer): boolean
  status(): number
}

/**
 * Reads one HTTP/1.1 response from pieces of any size and passes its body on. Reads the framings
 * that the measured servers use: a length, or chunks. Bytes after the response are a server error.
 */
export function createResponseReader(onBody: (bytes: Buffer) => void): ResponseReader {
  let held: Buffer = Buffer.alloc(0)
  let status = 0
  let chunked = false
  /** Bytes left of the body or of the chunk, including the line end of a chunk. */
  let left = -1
  let line = ''

  function readHead(bytes: Buffer): Buffer | null {
    held = held.length > 0 ? Buffer.concat([held, bytes]) : bytes
    const end = held.indexOf(HEAD_END)
    if (end < 0) return null
    const head = held.toString('latin1', 0, end).toLowerCase()
    status = Number(head.slice(9, 12))
    chunked = head.includes('\r\ntransfer-encoding: chunked')
    left = chunked ? 0 : Number(head.match(/\r\ncontent-length: *(\d+)/)?.[1] ?? 0)
    return held.subarray(end + HEAD_END.length)
  }

  function readLength(bytes: Buffer): boolean {
    if (bytes.length > 0) onBody(bytes)
    left -= bytes.length
    return left <= 0
  }

  function readChunks(bytes: Buffer): boolean {
    for (let at = 0; at < bytes.length; ) {
      if (left > 0) {
        const end = Math.min(bytes.length, at + left)
        const dataEnd = Math.min(bytes.length, at + Math.max(0, left - 2))
        if (dataEnd > at) onBody(bytes.subarray(at, dataEnd))
        left -= end - at
        at = end
        continue
      }
      const end = bytes.indexOf(10, at)
      line += bytes.toString('latin1', at, end < 0 ? bytes.length : end)
      if (end < 0) return false
      at = end + 1
      const size = Number.parseInt(line, 16)
      if (Number.isNaN(size)) throw new Error('malformed chunk size')
      line = ''
      if (size === 0) return true
      left = size + 2
    }
    return false
  }

  return {
    status: () => status,
    feed(bytes) {
      const body = status === 0 ? readHead(bytes) : bytes
      if (!body) return false
      return chunked ? readChunks(body) : readLength(body)
    },
  }
}
