/** What the first bytes of a picture say of it. */
export interface PictureKind {
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif'
  /** In pixels; 0 where the bytes do not say. */
  readonly width: number
  readonly height: number
}

/** Null for bytes that are no PNG, JPEG, WebP or GIF. */
export function pictureKind(bytes: Uint8Array): PictureKind | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const text = (from: number, to: number) => String.fromCharCode(...bytes.subarray(from, to))
  if (text(0, 8) === '\x89PNG\r\n\x1a\n') {
    return {
      mediaType: 'image/png',
      ...size(view, 24, () => [view.getUint32(16), view.getUint32(20)]),
    }
  }
  if (/^GIF8[79]a$/.test(text(0, 6))) {
    const read = () => [view.getUint16(6, true), view.getUint16(8, true)] as const
    return { mediaType: 'image/gif', ...size(view, 10, read) }
  }
  if (text(0, 4) === 'RIFF' && text(8, 12) === 'WEBP') {
    return { mediaType: 'image/webp', ...size(view, 30, () => webpSize(view, text(12, 16))) }
  }
  if (text(0, 3) === '\xff\xd8\xff') return { mediaType: 'image/jpeg', ...jpegSize(view) }
  return null
}

interface Size {
  readonly width: number
  readonly height: number
}

const UNKNOWN: Size = { width: 0, height: 0 }

function size(view: DataView, bytes: number, read: () => readonly [number, number]): Size {
  if (view.byteLength < bytes) return UNKNOWN
  const [width, height] = read()
  return { width, height }
}

/** By the container's own specification: the size stands at another place in each of its kinds. */
function webpSize(view: DataView, chunk: string): readonly [number, number] {
  const three = (at: number) => view.getUint16(at, true) + (view.getUint8(at + 2) << 16)
  if (chunk === 'VP8X') return [three(24) + 1, three(27) + 1]
  if (chunk === 'VP8L') {
    const bits = view.getUint32(21, true)
    return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1]
  }
  return [view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff]
}

/** Segments before the one that tells the size. */
const SEGMENTS_MAX = 1_000

function jpegSize(view: DataView): Size {
  let at = 2
  for (let n = 0; n < SEGMENTS_MAX && at + 9 <= view.byteLength; n++) {
    if (view.getUint8(at) !== 0xff) return UNKNOWN
    const marker = view.getUint8(at + 1)
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) }
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2)
  }
  return UNKNOWN
}
