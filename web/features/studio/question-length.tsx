import { AGENT_TEXT_CHARS_MAX } from '../../../src/core/limits/contract.ts'

/** The characters of a question, as the server counts them, where they are too many; else 0. */
export function charsTooMany(text: string): number {
  if (text.length <= AGENT_TEXT_CHARS_MAX) return 0
  const count = [...text.trim()].length
  return count > AGENT_TEXT_CHARS_MAX ? count : 0
}

/** Says so where the question is written. */
export const TooLong = ({ chars }: { readonly chars: number }) =>
  chars > 0 && (
    <span className="text-mini text-bad">
      {chars} / {AGENT_TEXT_CHARS_MAX}
    </span>
  )
