/** Sample layout of a wav file's `fmt ` chunk. */
export interface WavFormat {
  readonly rate: number
  readonly channels: number
  readonly bits: number
  readonly float: boolean
}

const HEADER_BYTES_MAX = 64 * 1024
const [PCM, FLOAT, EXTENSIBLE] = [1, 3, 0xfffe] as const
export const RATE_MIN = 4_000
export const RATE_MAX = 192_000

export interface WavReader {
  /** Null until the header is complete. */
  format(): WavFormat | null
  /** The sound bytes of this chunk, in the file's own layout. Throws for anything but wav. */
  push(chunk: Uint8Array): Uint8Array
}

/**
 * Reads a wav file (RIFF WAVE) as it arrives. Streaming servers that do not know the data size yet
 * write 0 or the largest number; the sound then lasts to the end of the stream.
 */
export function createWavReader(): WavReader {
  let head: Uint8Array = new Uint8Array(0)
  let format: WavFormat | null = null
  let left: number | null = null

  return {
    format: () => (left === null ? null : format),
    push(chunk) {
      if (left !== null) return take(chunk)
      head = join(head, chunk)
      const found = parseHeader(head)
      if (found === null) {
        if (head.length > HEADER_BYTES_MAX) throw new Error('wav header too long')
        return new Uint8Array(0)
      }
      format = found.format
      left = found.dataBytes
      const rest = head.subarray(found.dataStart)
      head = new Uint8Array(0)
      return take(rest)
    },
  }

  function take(bytes: Uint8Array): Uint8Array {
    const part = bytes.subarray(0, Math.min(bytes.length, left ?? 0))
    left = (left ?? 0) - part.length
    return part
  }
}

/**
 * The header of mono samples of 16 bits whose number is not known yet: the sizes are the largest
 * number, as FFmpeg and OpenAI write them into a stream.
 */
export const streamedWavHeader = (rate: number): Uint8Array =>
  wavHeader(rate, 0xffffffff, 0xffffffff)

/** Mono samples as a wav file. */
export function wavFile(samples: Int16Array, rate: number): Uint8Array {
  const data = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)
  return Buffer.concat([wavHeader(rate, 36 + data.length, data.length), data])
}

function wavHeader(rate: number, riffBytes: number, dataBytes: number): Uint8Array {
  const header = Buffer.alloc(44)
  header.write('RIFF', 0, 'latin1')
  header.writeUInt32LE(riffBytes, 4)
  header.write('WAVEfmt ', 8, 'latin1')
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(PCM, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(rate, 24)
  header.writeUInt32LE(rate * 2, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36, 'latin1')
  header.writeUInt32LE(dataBytes, 40)
  return header
}

interface Header {
  readonly format: WavFormat
  readonly dataStart: number
  readonly dataBytes: number
}

function parseHeader(bytes: Uint8Array): Header | null {
  if (bytes.length < 12) return null
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (view.getUint32(8) !== 0x57415645) throw new Error('not a wav file')
  let format: WavFormat | null = null
  for (let at = 12; at + 8 <= bytes.length; ) {
    const [id, size] = [view.getUint32(at), view.getUint32(at + 4, true)]
    if (id === 0x64617461) {
      if (format === null) throw new Error('wav data before its format')
      const unknown = size === 0 || size >= 0x7fffff00
      return { format, dataStart: at + 8, dataBytes: unknown ? Number.POSITIVE_INFINITY : size }
    }
    if (id === 0x666d7420) {
      if (at + 8 + Math.min(size, 26) > bytes.length) return null
      format = parseFormat(view, at + 8, size)
    }
    at += 8 + size + (size % 2)
  }
  return null
}

function parseFormat(view: DataView, at: number, size: number): WavFormat {
  if (size < 16) throw new Error('wav format too short')
  const tag = view.getUint16(at, true)
  const code = tag === EXTENSIBLE && size >= 26 ? view.getUint16(at + 24, true) : tag
  const format = {
    channels: view.getUint16(at + 2, true),
    rate: view.getUint32(at + 4, true),
    bits: view.getUint16(at + 14, true),
    float: code === FLOAT,
  }
  const known = code === PCM ? [8, 16, 24, 32] : code === FLOAT ? [32, 64] : []
  if (!known.includes(format.bits)) throw new Error('wav coding not supported')
  if (format.channels < 1 || format.channels > 8) throw new Error('wav with no or many channels')
  if (format.rate < RATE_MIN || format.rate > RATE_MAX) throw new Error('wav rate out of range')
  return format
}

/** Converts the file's own layout to mono samples and carries an incomplete sample frame over. */
export function createWavSamples(format: WavFormat): (chunk: Uint8Array) => Float32Array {
  const bytes = format.bits / 8
  const frame = bytes * format.channels
  const at = sampleReader(format)
  let rest: Uint8Array = new Uint8Array(0)
  return (chunk) => {
    const all = rest.length === 0 ? chunk : join(rest, chunk)
    const view = new DataView(all.buffer, all.byteOffset, all.byteLength)
    const mono = new Float32Array(Math.floor(all.length / frame))
    rest = all.slice(mono.length * frame)
    if (frame === 2 && !format.float) return plainSamples(all, mono)
    for (let i = 0; i < mono.length; i++) {
      let sum = 0
      for (let c = 0; c < format.channels; c++) sum += at(view, i * frame + c * bytes)
      mono[i] = sum / format.channels
    }
    return mono
  }
}

/** Fast path for the usual layout, 16 bits and one channel. */
function plainSamples(bytes: Uint8Array, mono: Float32Array): Float32Array {
  const aligned = bytes.byteOffset % 2 === 0 ? bytes : bytes.slice()
  const samples = new Int16Array(aligned.buffer, aligned.byteOffset, mono.length)
  for (let i = 0; i < mono.length; i++) mono[i] = (samples[i] as number) / 32_768
  return mono
}

function sampleReader({ bits, float }: WavFormat): (view: DataView, at: number) => number {
  if (float)
    return bits === 64 ? (v, at) => v.getFloat64(at, true) : (v, at) => v.getFloat32(at, true)
  if (bits === 8) return (v, at) => (v.getUint8(at) - 128) / 128
  if (bits === 16) return (v, at) => v.getInt16(at, true) / 32_768
  if (bits === 32) return (v, at) => v.getInt32(at, true) / 2_147_483_648
  return (v, at) => ((v.getInt8(at + 2) << 16) | v.getUint16(at, true)) / 8_388_608
}

function join(a: Uint8Array, b: Uint8Array): Uint8Array {
  const joined = new Uint8Array(a.length + b.length)
  joined.set(a)
  joined.set(b, a.length)
  return joined
}
