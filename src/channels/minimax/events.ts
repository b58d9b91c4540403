import { parseUntrustedJson } from '../../core/json.ts'
import { ChannelFailure } from '../ports/failure.ts'

/** One JSON object of `POST /t2a_v2`, streamed or not, as far as it is read. */
interface Event {
  readonly data?: { readonly audio?: unknown; readonly status?: unknown } | null
  readonly base_resp?: { readonly status_code?: unknown; readonly status_msg?: unknown } | null
}

/** The upstream answered 200 and said in the body that it did not do the work. */
export class Declined extends ChannelFailure {
  constructor(
    code: number,
    /** Whether another voice may help. */
    readonly voiceRefused: boolean,
  ) {
    super(RETRYABLE.has(code) ? 'retry_exhausted' : 'provider_error', `status ${code}`, {
      retryable: RETRYABLE.has(code),
    })
  }
}

/** Unknown fault, timeout, requests a minute, tokens a minute. */
const RETRYABLE = new Set([1000, 1001, 1002, 1039])
const LAST = 2

/** Reads the events of one synthesis into its samples. */
export function createEventReader() {
  let heard = false
  let ended = false
  return {
    /** Whether the upstream said that this was all. */
    get ended(): boolean {
      return ended
    },
    /** The sound of one event; throws `Declined`, or `ChannelFailure` for what is no event. */
    sound(text: string): Uint8Array {
      const event = parse(text)
      const code = Number(event.base_resp?.status_code ?? 0)
      if (code !== 0) throw new Declined(code, /voice/i.test(String(event.base_resp?.status_msg)))
      const last = event.data?.status === LAST
      ended ||= last
      // The last event repeats the whole sound, unless it is the only one.
      if (last && heard) return new Uint8Array(0)
      const audio = hexBytes(event.data?.audio)
      heard ||= audio.length > 0
      return audio
    },
  }
}

function parse(text: string): Event {
  try {
    const value: unknown = parseUntrustedJson(text)
    if (typeof value === 'object' && value !== null) return value
  } catch {
    // The parser's message quotes the text, so it is not kept.
  }
  throw new ChannelFailure('provider_error', 'malformed answer')
}

function hexBytes(value: unknown): Uint8Array {
  if (value === undefined || value === null || value === '') return new Uint8Array(0)
  const bytes = typeof value === 'string' ? Buffer.from(value, 'hex') : null
  if (bytes !== null && bytes.length * 2 === String(value).length) return bytes
  throw new ChannelFailure('provider_error', 'malformed audio')
}
