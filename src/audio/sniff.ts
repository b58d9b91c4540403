import type { AudioKind } from '../upstream/ports/speech.ts'

const KINDS: Readonly<Record<AudioKind['name'], Omit<AudioKind, 'name'>>> = {
  wav: { extension: 'wav', mime: 'audio/wav' },
  mp3: { extension: 'mp3', mime: 'audio/mpeg' },
  flac: { extension: 'flac', mime: 'audio/flac' },
  opus: { extension: 'ogg', mime: 'audio/ogg' },
  vorbis: { extension: 'ogg', mime: 'audio/ogg' },
  ogg: { extension: 'ogg', mime: 'audio/ogg' },
  webm: { extension: 'webm', mime: 'audio/webm' },
  m4a: { extension: 'm4a', mime: 'audio/mp4' },
  aac: { extension: 'aac', mime: 'audio/aac' },
  amr: { extension: 'amr', mime: 'audio/amr' },
}

/** Detects the format by the first bytes, because callers send `application/octet-stream`. */
export function sniff(bytes: Uint8Array): AudioKind | null {
  const name = nameOf(bytes)
  return name === null ? null : { name, ...KINDS[name] }
}

function nameOf(bytes: Uint8Array): AudioKind['name'] | null {
  const text = (from: number, to: number) => String.fromCharCode(...bytes.subarray(from, to))
  const start = text(0, 4)
  if ((start === 'RIFF' || start === 'RF64') && text(8, 12) === 'WAVE') return 'wav'
  if (start === 'fLaC') return 'flac'
  if (start === 'OggS') return oggCodec(text(26, 64))
  if (start === '\x1aE\xdf\xa3') return 'webm'
  if (start === '#!AM') return 'amr'
  if (text(4, 8) === 'ftyp') return 'm4a'
  if (start.startsWith('ID3')) return 'mp3'
  return frameSync(bytes)
}

/** The codec in the first packet of an Ogg stream, directly after the page's segment table. */
function oggCodec(page: string): AudioKind['name'] {
  if (page.includes('OpusHead')) return 'opus'
  if (page.includes('\x01vorbis')) return 'vorbis'
  return page.includes('FLAC') ? 'flac' : 'ogg'
}

/** A bare MPEG stream starts with eleven set bits; layer 0 is AAC in ADTS frames. */
function frameSync(bytes: Uint8Array): 'mp3' | 'aac' | null {
  const [first = 0, second = 0, third = 0] = bytes
  if (first !== 0xff || (second & 0xe0) !== 0xe0) return null
  const layer = (second >> 1) & 3
  if (layer === 0) return (second & 0xf0) === 0xf0 ? 'aac' : null
  const plausible = ((second >> 3) & 3) !== 1 && third >> 4 !== 15 && ((third >> 2) & 3) !== 3
  return plausible ? 'mp3' : null
}

const KBPS_V1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
const KBPS_V2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
const RATES_V1 = [44_100, 48_000, 32_000]

/** Length of the layer III frame whose header these bytes begin with (ISO/IEC 11172-3, 13818-3). */
export function mp3FrameBytes([, second = 0, third = 0]: Uint8Array): number {
  const version = (second >> 3) & 3
  const divisor = version === 3 ? 1 : version === 2 ? 2 : 4
  const kbps = (version === 3 ? KBPS_V1 : KBPS_V2)[third >> 4] ?? 0
  const rate = (RATES_V1[(third >> 2) & 3] ?? 0) / divisor
  return Math.floor(((version === 3 ? 144 : 72) * kbps * 1_000) / rate) + ((third >> 1) & 1)
}
