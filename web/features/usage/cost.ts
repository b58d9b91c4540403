import type { Settings } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'

const MILLION = 1_000_000

export const isPriced = ({ price_in, price_out }: Settings): boolean =>
  price_in !== undefined || price_out !== undefined

interface Tokens {
  readonly input_tokens: number
  readonly output_tokens: number
}

/** An estimate in the currency of the tenant's prices; a missing price counts as nothing. */
export const costOf = (tokens: Tokens, { price_in = 0, price_out = 0 }: Settings): number =>
  (tokens.input_tokens * price_in + tokens.output_tokens * price_out) / MILLION

/** Writes an amount without a currency, which the tenant knows; small ones with more digits. */
export function useCost(): (amount: number) => string {
  const { locale } = useI18n()
  return (amount) => {
    const digits = amount === 0 || amount >= 1 ? 2 : 4
    const form = { minimumFractionDigits: digits, maximumFractionDigits: digits }
    return amount.toLocaleString(locale, form)
  }
}
