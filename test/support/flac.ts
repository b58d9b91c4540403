/**
 * A FLAC writer for tests (RFC 9639): mono at 48 kHz, as verbatim subframes, or silence at 8 kHz as
 * constant subframes, which store an hour in some kilobytes.
 */
const BLOCK = 4_096
/** A rate, and its number in the head of a frame. */
const SOUND = { rate: 48_000, code: 10 }
const SILENCE = { rate: 8_000, code: 4 }

export function flac(samples: Float32Array): Uint8Array {
  const frames: Uint8Array[] = [header(samples.length, BLOCK, SOUND.rate)]
  for (let at = 0, i = 0; at < samples.length; at += BLOCK, i++) {
    frames.push(frame(i, Math.min(BLOCK, samples.length - at), samples.subarray(at, at + BLOCK)))
  }
  return new Uint8Array(Buffer.concat(frames))
}

/** `block` samples a frame, up to 65,535: eleven bytes of file for 8 s. */
export function silentFlac(seconds: number, block = BLOCK): Uint8Array {
  const frames: Uint8Array[] = [header(0, block, SILENCE.rate)]
  const count = Math.ceil((SILENCE.rate * seconds) / block)
  for (let i = 0; i < count; i++) frames.push(frame(i, block, null))
  return new Uint8Array(Buffer.concat(frames))
}

function header(total: number, block: number, rate: number): Uint8Array {
  const info = Buffer.alloc(34)
  info.writeUInt16BE(block, 0)
  info.writeUInt16BE(block, 2)
  const packed = (BigInt(rate) << 44n) | (0n << 41n) | (15n << 36n) | BigInt(total)
  info.writeBigUInt64BE(packed, 10)
  return Buffer.concat([Buffer.from('fLaC'), Buffer.from([0x80, 0, 0, 34]), info])
}

function frame(index: number, size: number, samples: Float32Array | null): Uint8Array {
  // 16-bit block size after the header, the rate, mono, 16 bits a sample.
  const { code } = samples === null ? SILENCE : SOUND
  const head = [
    0xff,
    0xf8,
    0x70 | code,
    0x08,
    ...codedNumber(index),
    (size - 1) >> 8,
    (size - 1) & 0xff,
  ]
  head.push(crc8(head))
  const body = Buffer.alloc(samples === null ? 3 : 1 + size * 2)
  body[0] = samples === null ? 0x00 : 0x02
  for (let i = 0; samples !== null && i < samples.length; i++) {
    body.writeInt16BE(Math.round((samples[i] ?? 0) * 32_767), 1 + i * 2)
  }
  const bytes = Buffer.concat([Buffer.from(head), body])
  const tail = Buffer.alloc(2)
  tail.writeUInt16BE(crc16(bytes))
  return Buffer.concat([bytes, tail])
}

/** The frame number in the extended UTF-8 of FLAC. */
function codedNumber(value: number): number[] {
  if (value < 0x80) return [value]
  if (value < 0x800) return [0xc0 | (value >> 6), 0x80 | (value & 63)]
  if (value < 0x10000)
    return [0xe0 | (value >> 12), 0x80 | ((value >> 6) & 63), 0x80 | (value & 63)]
  const low = [12, 6, 0].map((shift) => 0x80 | ((value >> shift) & 63))
  return [0xf0 | (value >> 18), ...low]
}

function crc8(bytes: readonly number[]): number {
  return bytes.reduce((crc, byte) => shift(crc ^ byte, 0x80, 0x07) & 0xff, 0)
}

function crc16(bytes: Uint8Array): number {
  let crc = 0
  for (const byte of bytes) crc = shift(crc ^ (byte << 8), 0x8000, 0x8005) & 0xffff
  return crc
}

function shift(start: number, top: number, polynomial: number): number {
  let crc = start
  for (let bit = 0; bit < 8; bit++) crc = crc & top ? (crc << 1) ^ polynomial : crc << 1
  return crc
}
