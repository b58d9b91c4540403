import { parseUntrustedJson } from '../core/json.ts'
import { lowerThreadPriority } from '../core/time-slice.ts'

/** The thread of http/json-parser.ts: parses one body after another. */

/** The value of a body; null when it is not JSON. */
export type ParsedJson = { readonly value: unknown } | null

declare const self: Worker

lowerThreadPriority()

self.onmessage = ({ data: bytes }: MessageEvent<Uint8Array>) => {
  self.postMessage(parsed(bytes))
}

function parsed(bytes: Uint8Array): ParsedJson {
  try {
    return { value: parseUntrustedJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) }
  } catch {
    return null
  }
}
