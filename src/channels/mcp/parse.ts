import { parseUntrustedJson } from '../../core/json.ts'
import type { ParseJson } from './exchange.ts'

/** Longer texts would hold the event loop; hostile text of this size holds it 3 ms. */
const PARSED_HERE_CHARS_MAX = 256 * 1024

type ParseElsewhere = (
  tenantId: string,
  bytes: Uint8Array<ArrayBuffer>,
) => Promise<{ readonly value: unknown } | null>

/** Parses long texts by `elsewhere`, in another thread. */
export const parseBeside =
  (elsewhere: ParseElsewhere): ParseJson =>
  async (tenantId, text) => {
    if (text.length > PARSED_HERE_CHARS_MAX) {
      return (await elsewhere(tenantId, new TextEncoder().encode(text)))?.value
    }
    try {
      return parseUntrustedJson(text)
    } catch {
      return undefined
    }
  }
