export interface Mp3Frame {
  readonly rate: number
  readonly kbps: number
  readonly channels: number
  readonly samples: number
}

const KBPS_V1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
const KBPS_V2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
const RATES_V1 = [44_100, 48_000, 32_000]

/** Reads MPEG audio layer III frames from the first byte; throws on an invalid header. */
export function mp3Frames(bytes: Uint8Array): Mp3Frame[] {
  const frames: Mp3Frame[] = []
  for (let at = 0; at < bytes.length; ) {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(at, at + 4)
    const version = (b >> 3) & 3
    if (a !== 0xff || (b & 0xe0) !== 0xe0 || version === 1 || ((b >> 1) & 3) !== 1) {
      throw new Error(`no mp3 frame at byte ${at}`)
    }
    const first = version === 3
    const kbps = (first ? KBPS_V1 : KBPS_V2)[c >> 4] ?? 0
    const rate = (RATES_V1[(c >> 2) & 3] ?? 0) / (first ? 1 : version === 2 ? 2 : 4)
    const samples = first ? 1152 : 576
    frames.push({ rate, kbps, channels: d >> 6 === 3 ? 1 : 2, samples })
    at += Math.floor((samples / 8) * ((kbps * 1000) / rate)) + ((c >> 1) & 1)
  }
  return frames
}
