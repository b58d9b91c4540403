/** The table of contents of a zip archive (APPNOTE 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16). */

export interface ZipEntry {
  readonly name: string
  /** 0: stored. 8: deflated. */
  readonly method: number
  readonly encrypted: boolean
  readonly crc32: number
  /** Bytes in the archive, as the archive claims. */
  readonly packedBytes: number
  /** Where its local header begins. */
  readonly at: number
}

const [LOCAL, ENTRY, END] = [0x04034b50, 0x02014b50, 0x06054b50]
const END_BYTES = 22
const COMMENT_BYTES_MAX = 0xffff

export const isZip = (bytes: Uint8Array) =>
  bytes.length >= 4 && viewOf(bytes).getUint32(0, true) === LOCAL

/** The first `max` entries; null when the archive was cut off and has no end record. */
export function zipEntries(bytes: Uint8Array, max: number): ZipEntry[] | null {
  const view = viewOf(bytes)
  const end = endOf(bytes)
  if (end === null) return null
  const entries: ZipEntry[] = []
  const decoder = new TextDecoder()
  let at = view.getUint32(end + 16, true)
  while (entries.length < max && at + 46 <= end && view.getUint32(at, true) === ENTRY) {
    const nameBytes = view.getUint16(at + 28, true)
    entries.push({
      name: decoder.decode(bytes.subarray(at + 46, at + 46 + nameBytes)),
      method: view.getUint16(at + 10, true),
      encrypted: (view.getUint16(at + 8, true) & 1) === 1,
      crc32: view.getUint32(at + 16, true),
      packedBytes: view.getUint32(at + 20, true),
      at: view.getUint32(at + 42, true),
    })
    at += 46 + nameBytes + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
  }
  return entries
}

/** The name of the first entry, which is there even when the archive was cut off. */
export function firstZipName(bytes: Uint8Array): string | null {
  if (!isZip(bytes) || bytes.length < 30) return null
  const end = 30 + viewOf(bytes).getUint16(26, true)
  return new TextDecoder().decode(bytes.subarray(30, end))
}

/** The packed bytes of an entry; null when they are not where the archive says. */
export function packedBytes(bytes: Uint8Array, { at, packedBytes }: ZipEntry): Uint8Array | null {
  const view = viewOf(bytes)
  if (at + 30 > bytes.length || view.getUint32(at, true) !== LOCAL) return null
  const start = at + 30 + view.getUint16(at + 26, true) + view.getUint16(at + 28, true)
  return start + packedBytes > bytes.length ? null : bytes.subarray(start, start + packedBytes)
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  new DataView(buffer, byteOffset, byteLength)

/** The end record is the last thing in the archive, before a comment. */
function endOf(bytes: Uint8Array): number | null {
  const view = viewOf(bytes)
  const last = bytes.length - END_BYTES
  for (let at = last; at >= Math.max(0, last - COMMENT_BYTES_MAX); at--) {
    if (view.getUint32(at, true) === END) return at
  }
  return null
}
