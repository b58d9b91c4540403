import { byteOrderMark } from '../core/text-encoding.ts'

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
