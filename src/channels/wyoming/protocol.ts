import { parseUntrustedJson } from '../../core/json.ts'
import { ChannelFailure } from '../../upstream/ports/failure.ts'
import type { WyomingEvent } from '../../upstream/ports/wyoming.ts'

const VERSION = '1.7.2'
const LINE_BYTES_MAX = 1024 * 1024
const PART_BYTES_MAX = 16 * 1024 * 1024
const LF = 10

/**
 * Encodes an event: a line of JSON, then `data_length` bytes of JSON, then `payload_length` bytes
 * of sound.
 */
export function encodeEvent(
  type: string,
  data: Readonly<Record<string, unknown>> = {},
  payload: Uint8Array = new Uint8Array(0),
): Uint8Array {
  const json = Buffer.from(JSON.stringify(data))
  const sizes = { data_length: json.length, payload_length: payload.length }
  return Buffer.concat([
    Buffer.from(`${JSON.stringify({ type, version: VERSION, ...sizes })}\n`),
    json,
    payload,
  ])
}

/** An event and the bytes of its line, data and payload. */
export interface DecodedEvent extends WyomingEvent {
  readonly bytes: number
}

interface Head {
  readonly bytes: number
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
  readonly dataBytes: number
  readonly payloadBytes: number
}

/**
 * Decodes bytes into events. Throws `ChannelFailure` for malformed bytes, and for an event of more
 * than `bytesMax` bytes with all its parts.
 */
export function createEventDecoder(
  bytesMax = Number.POSITIVE_INFINITY,
): (bytes: Uint8Array) => DecodedEvent[] {
  const lineMax = Math.min(LINE_BYTES_MAX, bytesMax)
  let held: Uint8Array = new Uint8Array(0)
  /** Not joined to `held` yet: joining at each read would copy a large event many times. */
  let fresh: Uint8Array[] = []
  let freshBytes = 0
  let head: Head | null = null

  const take = (count: number): Uint8Array => {
    const taken = held.subarray(0, count)
    held = held.subarray(count)
    return taken
  }
  const readHead = (): Head | null => {
    const end = held.indexOf(LF)
    if (end > lineMax || (end < 0 && held.length > lineMax)) throw malformed()
    if (end < 0) return null
    const head = parseHead(take(end + 1))
    if (head.bytes > bytesMax) throw malformed()
    return head
  }
  const next = (): DecodedEvent | null => {
    head ??= readHead()
    if (head === null || held.length < head.dataBytes + head.payloadBytes) return null
    const more = head.dataBytes > 0 ? parseObject(take(head.dataBytes)) : {}
    const event = {
      type: head.type,
      data: { ...head.data, ...more },
      // A copy, because a view keeps everything that was read with it.
      payload: new Uint8Array(take(head.payloadBytes)),
      bytes: head.bytes,
    }
    head = null
    return event
  }

  return (bytes) => {
    fresh.push(bytes)
    freshBytes += bytes.length
    const wanted = head === null ? 0 : head.dataBytes + head.payloadBytes
    if (held.length + freshBytes < wanted) return []
    held = Buffer.concat([held, ...fresh])
    fresh = []
    freshBytes = 0
    const events: DecodedEvent[] = []
    for (let event = next(); event !== null; event = next()) events.push(event)
    return events
  }
}

const malformed = () => new ChannelFailure('provider_error', 'malformed event')

function parseHead(line: Uint8Array): Head {
  const { type, data, data_length: dataLength, payload_length: payloadLength } = parseObject(line)
  if (typeof type !== 'string') throw malformed()
  const [dataBytes, payloadBytes] = [size(dataLength), size(payloadLength)]
  const bytes = line.length + dataBytes + payloadBytes
  return { bytes, type, data: isObject(data) ? data : {}, dataBytes, payloadBytes }
}

function size(value: unknown): number {
  if (value === undefined || value === null) return 0
  if (Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= PART_BYTES_MAX) {
    return Number(value)
  }
  throw malformed()
}

function parseObject(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = parseUntrustedJson(new TextDecoder().decode(bytes))
    if (isObject(value)) return value
  } catch {
    // The parser's message quotes the text, so it is not kept.
  }
  throw malformed()
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
