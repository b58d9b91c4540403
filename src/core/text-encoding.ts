/** Guesses the encoding of text that does not declare one. */

const SAMPLE_BYTES = 64 * 1024
/** Text of more than one control character in a hundred is something else. */
const CONTROL_SHARE_MAX = 0.01
/** A damaged byte in a file of UTF-8 does not make it another encoding. */
const DAMAGE_SHARE_MAX = 0.02
/** Share of plausible characters from which bytes read as UTF-16 count as UTF-16. */
const PLAUSIBLE_SHARE_MIN = 0.9

/**
 * The label of the encoding (WHATWG Encoding Standard), or null for bytes that are no text. Tried
 * are a byte order mark, UTF-8, UTF-16, GB18030 and windows-1252, in this order, on the beginning.
 */
export function textEncoding(bytes: Uint8Array): string | null {
  const marked = byteOrderMark(bytes)
  if (marked) return marked
  const sample = bytes.subarray(0, SAMPLE_BYTES)
  const { nul, all } = countControls(sample)
  const isText = nul === 0 && all <= sample.length * CONTROL_SHARE_MAX
  const whole = isText && NARROW.find((label) => damage(sample, label) === 0)
  if (whole) return whole
  const wide = utf16Of(sample, nul > 0)
  if (wide || !isText) return wide
  return (
    [...NARROW, 'windows-1252'].find((label) => damage(sample, label) <= DAMAGE_SHARE_MAX) ?? null
  )
}

const NARROW = ['utf-8', 'gb18030']

/** The encoding that the first bytes declare. */
export function byteOrderMark(bytes: Uint8Array): string | null {
  const [a, b, c] = bytes
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8'
  if (a === 0xff && b === 0xfe) return 'utf-16le'
  return a === 0xfe && b === 0xff ? 'utf-16be' : null
}

function countControls(sample: Uint8Array) {
  let nul = 0
  let all = 0
  for (const byte of sample) {
    if (byte === 0) nul++
    // Tab, line feed, form feed, carriage return and escape stand in text.
    const inText = (byte >= 0x09 && byte <= 0x0d) || byte === 0x1b || byte >= 0x20
    if (!inText) all++
  }
  return { nul, all }
}

/** The share of bytes beyond ASCII that the encoding cannot read. */
function damage(sample: Uint8Array, label: string): number {
  const text = new TextDecoder(label as Bun.Encoding).decode(sample)
  let damaged = 0
  let beyond = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) continue
    beyond++
    // The last character may be cut by the end of the sample.
    const isDamage = unit === 0xfffd || (unit < 0xa0 && unit !== 0x85)
    if (isDamage && i < text.length - 4) damaged++
  }
  return beyond === 0 ? 0 : damaged / beyond
}

/**
 * The UTF-16 byte order in which the bytes look like text, or null. Text stays within the Unicode
 * blocks that people write in; other bytes read as UTF-16 spread over all blocks. Latin letters
 * have a NUL byte in UTF-16; without one there must be a Chinese comma or full stop.
 */
function utf16Of(sample: Uint8Array, hasNul: boolean): string | null {
  const even = sample.subarray(0, sample.length & ~1)
  for (const label of ['utf-16le', 'utf-16be'] as const) {
    const text = new TextDecoder(label).decode(even)
    if (!hasNul && !/[，。、]/.test(text)) continue
    let plausible = 0
    for (let i = 0; i < text.length; i++) if (isPlausible(text.charCodeAt(i))) plausible++
    if (plausible >= text.length * PLAUSIBLE_SHARE_MIN) return label
  }
  return null
}

const isPlausible = (unit: number) =>
  (unit >= 0x20 && unit < 0x7f) ||
  (unit >= 0x09 && unit <= 0x0d) ||
  (unit >= 0xa0 && unit < 0x530) ||
  (unit >= 0x2000 && unit < 0x2070) ||
  (unit >= 0x3000 && unit < 0x3100) ||
  (unit >= 0x4e00 && unit < 0xa000) ||
  (unit >= 0xff00 && unit < 0xfff0)

const META_BYTES = 1024

/**
 * Decodes a fetched document. The encoding comes from the byte order mark, else the Content-Type,
 * else a declaration near the start of the document, else it is `otherwise` (HTML standard,
 * "determining the character encoding"). Undecodable bytes become U+FFFD.
 */
export function decodeText(bytes: Uint8Array, contentType: string, otherwise = 'utf-8'): string {
  const declared = byteOrderMark(bytes) ?? charsetOf(contentType) ?? declaredIn(bytes)
  return decoderFor(declared ?? otherwise).decode(bytes)
}

function charsetOf(text: string): string | null {
  return /charset\s*=\s*["']?([\w.:-]{1,40})/i.exec(text)?.[1] ?? null
}

/** `<meta charset>`, `<meta http-equiv … charset=…>` or `<?xml … encoding=…?>`. */
function declaredIn(bytes: Uint8Array): string | null {
  const start = new TextDecoder('windows-1252').decode(bytes.subarray(0, META_BYTES))
  const xml = /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]{1,40})/i.exec(start)?.[1]
  const meta = /<meta[^>]*charset[^>]*/i.exec(start)?.[0]
  return xml ?? (meta ? charsetOf(meta) : null)
}

function decoderFor(label: string): TextDecoder {
  try {
    return new TextDecoder(label as Bun.Encoding)
  } catch {
    return new TextDecoder()
  }
}
