import { parseUntrustedJson } from '../../core/json.ts'
import { DEVICE_LABEL_CHARS_MAX } from '../../core/limits/contract.ts'
import { firstChars } from '../../core/text.ts'
import type { Board } from '../../features/devices/board.ts'
import type { BoardState } from '../../features/devices/boards.ts'

/** MAC addresses and UUIDs; simulators use names. */
const IDENTITY = /^[\x21-\x7e]{1,64}$/
const VERSION = /^\d+(\.\d+)*$/
const VERSION_CHARS_MAX = 40

/**
 * The board of a start-up request, by its headers; null when they do not identify it. The body has
 * more details if it is JSON: boards without a display send a malformed one.
 */
export function readBoard(headers: Headers, body: string): Board | null {
  const [mac, clientId] = [headers.get('device-id') ?? '', headers.get('client-id') ?? '']
  if (!IDENTITY.test(mac) || !IDENTITY.test(clientId)) return null
  const { type, name } = objectOf(objectOf(parsed(body)).board)
  const [agentName, agentVersion] = agentOf(headers)
  return {
    mac: mac.toLowerCase(),
    clientId,
    type: label(type) ?? label(name) ?? (agentVersion ? label(agentName) : null),
    firmware: readFirmware(headers, body),
  }
}

/** The firmware version in a start-up request, also of a board that is not identified. */
export function readFirmware(headers: Headers, body: string): string | null {
  const { application } = objectOf(parsed(body))
  return version(objectOf(application).version) ?? version(agentOf(headers)[1])
}

/** Name and version in the User-Agent header. */
const agentOf = (headers: Headers) =>
  /^([^/]*)(?:.*\/([^/]*))?$/.exec(headers.get('user-agent') ?? '')?.slice(1) ?? []

function parsed(body: string): unknown {
  try {
    return parseUntrustedJson(body)
  } catch {
    return null
  }
}

const objectOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {}

function label(value: unknown): string | null {
  if (typeof value !== 'string') return null
  const text = value
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ')
    .trim()
  return firstChars(text, DEVICE_LABEL_CHARS_MAX) || null
}

/** The firmware parses each part of a version with `stoi`, which aborts on anything but digits. */
const version = (value: unknown): string | null =>
  typeof value === 'string' && value.length <= VERSION_CHARS_MAX && VERSION.test(value)
    ? value
    : null

/** How often a waiting board asks whether it is paired. */
const ACTIVATION_TIMEOUT_MS = 30_000

/** The parts of an answer that do not depend on the pairing. */
export interface OtaFacts {
  /** Epoch milliseconds. */
  readonly now: number
  /** Minutes east of UTC. */
  readonly zoneMinutes: number
  readonly firmware: string | null
  readonly socketUrl: string
}

/** Has no `mqtt`, which would win over the socket. An empty address clears the stored one. */
const answer = ({ now, zoneMinutes, firmware }: OtaFacts, websocket: object) => ({
  server_time: { timestamp: now, timezone_offset: zoneMinutes },
  // The board's own version and no address mean that there is no update.
  firmware: { version: firmware ?? '0.0.0', url: '' },
  websocket,
})

/** The answer to a board that is paired, or that shows its digits. */
export function otaAnswer(facts: OtaFacts, state: BoardState): object {
  if (state.key !== null) {
    return answer(facts, { url: facts.socketUrl, token: state.key, version: 1 })
  }
  const { digits, challenge } = state.waiting
  const message = `请在控制台输入配对码\n${digits}`
  return { ...refusal(facts), activation: activation(digits, message, challenge) }
}

/** The answer to a start without a device: the board shows the message and speaks nothing. */
export const otaRefusal = (facts: OtaFacts, message: string): object => ({
  ...refusal(facts),
  activation: activation('', message, 'none'),
})

const refusal = (facts: OtaFacts) => answer(facts, { url: '', token: '' })

const activation = (code: string, message: string, challenge: string) => ({
  code,
  message,
  challenge,
  timeout_ms: ACTIVATION_TIMEOUT_MS,
})

/** The message for a code without a device of this board. */
export const WRONG_CODE = '配对码无效或已过期，请在控制台重新生成'
