/**
 * Cuts a byte stream at sample borders: network reads end anywhere, and a shift by one byte turns
 * all later samples into noise.
 */
export function createSampleReader(): (chunk: Uint8Array) => Int16Array {
  let odd: number | null = null
  return (chunk) => {
    const carried = odd === null ? 0 : 1
    const whole = (carried + chunk.length) >> 1
    const bytes = new Uint8Array(whole * 2)
    if (whole > 0) {
      if (odd !== null) bytes[0] = odd
      bytes.set(chunk.subarray(0, bytes.length - carried), carried)
    }
    if ((carried + chunk.length) % 2 === 0) odd = null
    else odd = chunk[chunk.length - 1] ?? odd
    return new Int16Array(bytes.buffer)
  }
}

/** Maps full scale to 1. */
export function toFloats(samples: Int16Array): Float32Array {
  const floats = new Float32Array(samples.length)
  for (let i = 0; i < samples.length; i++) floats[i] = (samples[i] as number) / 32_768
  return floats
}

/** Signed 16-bit little-endian; louder than full scale is clipped, not wrapped. */
export function toBytes(floats: Float32Array): Uint8Array {
  const samples = new Int16Array(floats.length)
  for (let i = 0; i < floats.length; i++) {
    const value = Math.round((floats[i] as number) * 32_768)
    samples[i] = Math.max(-32_768, Math.min(32_767, value))
  }
  return new Uint8Array(samples.buffer)
}

/** The mean of all channels. */
export function toMono(channels: readonly Float32Array[]): Float32Array {
  const [first] = channels
  if (first === undefined) return new Float32Array(0)
  if (channels.length === 1) return first
  const mono = new Float32Array(first.length)
  for (const channel of channels) {
    for (let i = 0; i < mono.length; i++) mono[i] = (mono[i] as number) + (channel[i] as number)
  }
  for (let i = 0; i < mono.length; i++) mono[i] = (mono[i] as number) / channels.length
  return mono
}
