import { CLASSES, type ErrorClass } from '../../core/error-table.ts'
import { AppError } from '../../core/errors.ts'
import type { Principal } from '../../core/principal.ts'
import { firstChars, inOneLine } from '../../core/text.ts'
import { ChannelFailure } from '../../upstream/ports/failure.ts'
import type { AgentEvent, AnsweringChannel } from './events.ts'

type ErrorEvent = Extract<AgentEvent, { type: 'error' }>

/** Who asked what, and which channel failed; null when none did. */
export interface FailedTurn {
  readonly principal: Principal
  readonly question: string
  readonly failedOn: AnsweringChannel | null
}

const DETAIL_CHARS_MAX = 300

/** The event with what a person at the console may know of why the turn has failed. */
export function explained(event: ErrorEvent, error: unknown, turn: FailedTurn): ErrorEvent {
  const status = error instanceof ChannelFailure ? error.status : null
  const known = { ...event, class: classOf(error), status }
  if (!(error instanceof ChannelFailure) || !mayMend(turn)) return known
  const detail = detailOf(error.said, turn.question)
  return detail === '' ? known : { ...known, detail }
}

/** The operator mends the channel of the platform, owners and editors that of their tenant. */
function mayMend({ principal, failedOn }: FailedTurn): boolean {
  if (failedOn === null) return false
  if (failedOn === 'byo') return principal.role === 'owner' || principal.role === 'editor'
  return principal.operator === true
}

function classOf(error: unknown): ErrorClass {
  if (error instanceof AppError) return error.errorClass
  if (!(error instanceof ChannelFailure)) return 'internal'
  const { status, reason } = error
  if (status !== null && status >= 400 && status < 500) {
    return CLASSES[status as keyof typeof CLASSES] ?? 'bad_request'
  }
  return status === null && reason !== 'provider_error' ? 'unavailable' : 'upstream'
}

/** What looks like a key, a masked key, an address with credentials, or data. */
const SECRETS = [
  /\b(?:bearer|basic)\s+\S+/giu,
  /\b\S+:\/\/\S*@\S*/gu,
  /[?&][\w-]*(?:key|token|secret|sig)[\w-]*=[^\s&]*/giu,
  /\S*\*{2,}\S*/gu,
  /\b(?:sk|pk|rk|ak|gsk|xai|key|token|AIza)[-_][\w.+/=-]{4,}/giu,
  /\S*@\S+\.\S+/gu,
  // Long words that hold letters and digits.
  /(?<![\w+/=.-])(?=[\w+/=.-]*\d)(?=[\w+/=.-]*[A-Za-z])[\w+/=-]{16,}/gu,
]

/** What the provider said, without credentials and words of the question. */
function detailOf(said: string, question: string): string {
  let text = said
  for (const secret of SECRETS) text = text.replaceAll(secret, '…')
  text = withoutWords(text, question)
  return firstChars(inOneLine(text.replaceAll(/…(?:[\s"'“”,.:;]*…)+/gu, '…')), DETAIL_CHARS_MAX)
}

/** Words that tell nothing of a question. */
const COMMON = new Set(
  (
    'a an and are at but can do does for from has have how i if in is it its me my no not of on ' +
    'or our so that the this to was we what when which who why will with you your'
  ).split(' '),
)

function withoutWords(text: string, question: string): string {
  const asked = inOneLine(question)
  let rest = asked.length > 1 ? text.replaceAll(asked, '…') : text
  const words = new Set(
    (asked.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !COMMON.has(word)),
  )
  rest = rest.replaceAll(/[\p{L}\p{N}]+/gu, (word) => (words.has(word.toLowerCase()) ? '…' : word))
  // Words that are written without blanks: what the question has of at least two characters.
  return rest.replaceAll(/\p{Script=Han}{2,}/gu, (run) => withoutShared(run, asked))
}

function withoutShared(run: string, asked: string): string {
  const chars = [...run]
  const shared = chars.map(() => false)
  for (let at = 0; at + 1 < chars.length; at++) {
    if (!asked.includes(`${chars[at]}${chars[at + 1]}`)) continue
    shared[at] = true
    shared[at + 1] = true
  }
  return chars.map((char, at) => (shared[at] ? '…' : char)).join('')
}
