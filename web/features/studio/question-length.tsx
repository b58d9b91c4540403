import { AGENT_TEXT_CHARS_MAX } from '../../../src/core/limits/contract.ts'
import { useI18n } from '../../i18n/index.tsx'

/** The characters of a question, as the server counts them, where they are too many; else 0. */
export function charsTooMany(text: string): number {
  if (text.length <= AGENT_TEXT_CHARS_MAX) return 0
  const count = [...text.trim()].length
  return count > AGENT_TEXT_CHARS_MAX ? count : 0
}

/** Says so where the question is written. */
export function TooLong({ chars }: { readonly chars: number }) {
  const { locale } = useI18n()
  if (chars === 0) return null
  return (
    <span className="text-mini text-bad">
      {chars.toLocaleString(locale)} / {AGENT_TEXT_CHARS_MAX.toLocaleString(locale)}
    </span>
  )
}
