/** How sound is framed on the socket; the board chooses (contract 2, 4.1). All big-endian. */
export type FrameVersion = 1 | 2 | 3

export interface Frame {
  readonly type: 'opus' | 'json'
  readonly payload: Uint8Array
}

/** u16 version, u16 type, u32 reserved, u32 timestamp in ms, u32 size. */
const HEADER_2 = 16
/** u8 type, u8 reserved, u16 size. */
const HEADER_3 = 4
const TYPES = ['opus', 'json'] as const

/** Null for bytes that are no frame of this version. */
export function readFrame(version: FrameVersion, bytes: Uint8Array): Frame | null {
  if (version === 1) return { type: 'opus', payload: bytes }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const header = version === 2 ? HEADER_2 : HEADER_3
  if (bytes.length < header) return null
  const type = TYPES[version === 2 ? view.getUint16(2) : view.getUint8(0)]
  const size = version === 2 ? view.getUint32(12) : view.getUint16(2)
  if (type === undefined || size > bytes.length - header) return null
  return { type, payload: bytes.subarray(header, header + size) }
}

/** A packet of Opus as a frame; `timestamp` is the milliseconds since the speech began. */
export function writeFrame(version: FrameVersion, packet: Uint8Array, timestamp: number): Buffer {
  if (version === 1) return Buffer.from(packet)
  const header = Buffer.alloc(version === 2 ? HEADER_2 : HEADER_3)
  if (version === 2) {
    header.writeUInt16BE(2, 0)
    header.writeUInt32BE(timestamp >>> 0, 8)
    header.writeUInt32BE(packet.length, 12)
  } else header.writeUInt16BE(packet.length, 2)
  return Buffer.concat([header, packet])
}
