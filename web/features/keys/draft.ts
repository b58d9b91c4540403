import {
  DAILY_TOKENS_MAX,
  KEY_NAME_CHARS_MAX,
  RATE_LIMIT_DEFAULT,
  RATE_LIMIT_MAX,
} from '../../../src/core/limits/contract.ts'
import type { ApiKeyMeta, KeyInput } from '../../api/types.ts'

/** The values of the form, as typed. */
export interface KeyDraft {
  readonly name: string
  readonly rate: string
  readonly tokens: string
}

export const draftOf = (key: ApiKeyMeta | null): KeyDraft => ({
  name: key?.name ?? '',
  rate: String(key?.rate_limit ?? RATE_LIMIT_DEFAULT),
  tokens: String(key?.daily_tokens ?? 0),
})

/** A whole number up to `most`, also with spaces between its thousands; null for other text. */
function wholeNumber(text: string, most: number): number | null {
  const digits = text.replaceAll(/[\s,_]/g, '')
  return /^\d{1,15}$/.test(digits) && Number(digits) <= most ? Number(digits) : null
}

export const rateOf = ({ rate }: KeyDraft) => wholeNumber(rate, RATE_LIMIT_MAX)
export const tokensOf = ({ tokens }: KeyDraft) => wholeNumber(tokens, DAILY_TOKENS_MAX)
export const isTooLong = ({ name }: KeyDraft) => [...name.trim()].length > KEY_NAME_CHARS_MAX

/** The body of the request; null while a field is wrong. */
export function inputOf(draft: KeyDraft): KeyInput | null {
  const [rate_limit, daily_tokens] = [rateOf(draft), tokensOf(draft)]
  if (rate_limit === null || daily_tokens === null || isTooLong(draft)) return null
  return { name: draft.name.trim(), rate_limit, daily_tokens }
}
